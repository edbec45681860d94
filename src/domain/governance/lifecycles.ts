import { z } from 'zod';
import { PolicyDecision } from '../../governance/lifecycles/policy-decision.js';
import {
  LifecycleQuery,
  listLifecycles,
  listPolicyDecisions,
  readLifecycle,
} from '../../governance/lifecycles/read.js';
import { DecidedLifecycle, Lifecycle } from '../../governance/lifecycles/record.js';
import { listOf, ListQuery } from '../../stores/lists.js';
import { defineOperation } from '../operation.js';
import { Id } from '../../base/ids.js';

/** Every credential of the project may call them. Each operation limits what the caller sees. */
const calls = { effect: 'read', grant: 'any' } as const;

export const listCalls = defineOperation({
  ...calls,
  name: 'lifecycle.list',
  input: LifecycleQuery,
  output: listOf(Lifecycle),
  run: ({ deps, ctx, input }) => listLifecycles(deps.mongo.collections, ctx.principal, input),
});

export const readCall = defineOperation({
  ...calls,
  name: 'lifecycle.read',
  key: z.object({ id: Id }),
  output: DecidedLifecycle,
  run: ({ deps, ctx, key: { id } }) => readLifecycle(deps.mongo.collections, ctx.principal, id),
});

export const listDecisions = defineOperation({
  ...calls,
  name: 'policy-decision.list',
  input: ListQuery,
  output: listOf(PolicyDecision),
  run: ({ deps, ctx, input }) => listPolicyDecisions(deps.mongo.collections, ctx.principal, input),
});
