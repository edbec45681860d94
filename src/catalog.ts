import * as apiKeys from './domain/api-keys/operations.js';
import * as approvals from './domain/approvals/operations.js';
import * as connectedApps from './domain/connected-apps/operations.js';
import * as policies from './domain/governance/policies.js';
import * as serviceOperations from './domain/service-operations.js';
import { tools } from './domain/tools/tools.js';
import { createCatalog } from './governance/operations/catalog.js';
import type { Operation } from './governance/operations/operation.js';
import { platformExports } from './surfaces/platform/resources.js';

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'effect' in value && 'grant' in value && 'name' in value;

/** What the domain folders behind routes of the gateway export. */
const gatewayExports = [apiKeys, approvals, connectedApps, policies].flatMap((each): unknown[] => Object.values(each));

/** Rules evaluate every operation but reads of the platform, which are only authorised and rate-limited. */
const performed = [...platformExports, ...gatewayExports].filter(isOperation).filter(({ effect }) => effect !== 'read');
const toolOperations = tools.flatMap(({ cases }) => cases.map(({ operation }) => operation));
const caused = [...toolOperations, ...performed].flatMap(({ causes = [] }) => causes.map(({ operation }) => operation));
export const catalog = createCatalog(toolOperations, [...performed, ...caused, ...Object.values(serviceOperations)]);
