import { operationsOver, type AnyOperation } from '../governance/operations/operation.js';
import { seeingRuns } from '../auth/grants.js';
import type { Tool } from '../governance/tools/tool.js';
import type { Deps } from './deps.js';

/** Defines an operation of the product (docs/architecture.md, "One operation"). */
export const defineOperation = operationsOver<Deps>();

/** Most reads and writes of the platform need these grants. */
export const reads = { effect: 'read', grant: 'svc:orchestrate.read' } as const;
/** Reads of what people need to start runs and to see their own. The operation limits what they see (`seesAllRuns`). */
export const readsOwn = { ...reads, right: seeingRuns } as const;
export const writes = { effect: 'write', grant: 'svc:orchestrate.write' } as const;
/** Changes that of people only administrators make: to members, settings and the project. */
export const manages = { ...writes, right: ['manage'] } as const;

/** An operation without its type parameters. */
export type DomainOperation = AnyOperation<Deps>;

/** A tool of the gateway. */
export type DomainTool = Tool<Deps>;
