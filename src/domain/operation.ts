import type { z } from 'zod';
import { operationsOver, type AnyOperation, type OperationSpec } from '../governance/operations/operation.js';
import { seeingRuns } from '../auth/grants.js';
import type { Deps } from './deps.js';

/** Defines an operation of the product (design, "One governed operation"). */
export const defineOperation = operationsOver<Deps>();

/** Most reads and writes of the platform need these grants. */
export const reads = { effect: 'read', grant: 'svc:orchestrate.read' } as const;
/** Reads of what people need to start runs and to see their own. The operation limits what they see (`seesAllRuns`). */
export const readsOwn = { ...reads, right: seeingRuns } as const;
export const writes = { effect: 'write', grant: 'svc:orchestrate.write' } as const;
/** Changes that of people only administrators make: to members, settings and the project. */
export const manages = { ...writes, right: ['manage'] } as const;

/** Defines an operation that receives or returns a stream. Its route performs it. */
export function defineStream<O extends z.ZodType, K extends z.ZodObject | undefined = undefined>(
  spec: Omit<OperationSpec<Deps, K, z.ZodType | undefined, O>, 'run'>,
) {
  const run = () => Promise.reject(new Error(`${spec.name} is carried out by its route`));
  return defineOperation<O, K, z.ZodType | undefined>({ ...spec, run });
}

/** An operation without its type parameters. */
export type DomainOperation = AnyOperation<Deps>;
