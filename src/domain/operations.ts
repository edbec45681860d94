import { createCatalog } from '../governance/operations/catalog.js';
import type { Operation } from '../governance/operations/operation.js';
import type { CollectionDefinition } from '../stores/collections.js';
import * as actions from './actions/operations.js';
import * as agentflows from './agentflows/operations.js';
import * as analytics from './analytics/operations.js';
import * as apiKeys from './api-keys/operations.js';
import * as catalogSync from './catalog/operations.js';
import * as connectedApps from './connected-apps/operations.js';
import * as connectors from './connectors/operations.js';
import * as customers from './customers/operations.js';
import * as dashboards from './dashboards/operations.js';
import * as executions from './executions/operations.js';
import * as files from './files/operations.js';
import * as inbox from './inbox/operations.js';
import * as knowledge from './knowledge/operations.js';
import * as marketplace from './marketplace/operations.js';
import * as mcpServers from './mcp-servers/operations.js';
import * as members from './members/operations.js';
import * as projects from './projects/operations.js';
import * as queues from './queues/operations.js';
import * as schedules from './schedules/operations.js';
import * as settings from './settings/operations.js';
import * as skills from './skills/operations.js';
import * as tables from './tables/operations.js';
import * as tags from './tags/operations.js';
import * as tasks from './tasks/operations.js';
import * as approvals from './approvals/operations.js';
import * as policies from './governance/policies.js';
import * as serviceOperations from './service-operations.js';
import { toolOperations } from './tools/tools.js';

/** What `operations.ts` of each domain folder exports: its operations, which rules can name, and its collections. */
const rooms: readonly Readonly<Record<string, unknown>>[] = [
  actions,
  agentflows,
  analytics,
  apiKeys,
  approvals,
  catalogSync,
  connectedApps,
  connectors,
  customers,
  dashboards,
  executions,
  files,
  inbox,
  knowledge,
  marketplace,
  mcpServers,
  members,
  policies,
  projects,
  queues,
  schedules,
  settings,
  skills,
  tables,
  tags,
  tasks,
];

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'effect' in value && 'run' in value;

const exported = rooms.flatMap((room) => Object.values(room));

const isCollection = (value: unknown): value is CollectionDefinition =>
  typeof value === 'object' && value !== null && 'indexes' in value && 'majorityRead' in value;

export const collectionsOfRooms = exported.filter(isCollection);

/** Rules evaluate every operation but reads of the platform, which are only authorised and rate-limited. */
export const catalog = createCatalog(toolOperations, [
  ...exported.filter(isOperation).filter(({ effect }) => effect !== 'read'),
  ...Object.values(serviceOperations),
]);
