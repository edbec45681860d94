import type { Kind } from './kind.js';
import { agentflows } from './kinds/agentflows.js';
import { connectors } from './kinds/connectors.js';
import { dashboard } from './kinds/dashboard.js';
import { policies } from './kinds/policies.js';
import { schedules } from './kinds/schedules.js';
import { tables } from './kinds/tables.js';

/** All kinds of resources, in the order in which they are created. */
export const kinds: readonly Kind[] = [tables, agentflows, connectors, schedules, dashboard, policies];
