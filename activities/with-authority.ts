import { Context } from '@temporalio/activity';
import { LRUCache } from 'lru-cache';
import { AppError } from '../src/base/errors.js';
import {
  holdDividedRun,
  noteHold,
  refusalToRun,
  type HoldDeps,
  type RunOwner,
} from '../src/domain/executions/operations/hold.js';
import { executionWorkflowId } from '../workflows/agentflow-execution/messages.js';
import { endsRun } from '../workflows/agentflow-execution/authority.js';
import type { AgentflowExecutionActivities } from '../workflows/agentflow-execution/activities.js';
import { failureOf } from './failure.js';

/**
 * Lets the steps of a run begin only while the person for whom it acts has a role that permits it (docs/decisions/0018).
 * A refused step has had no effect, and what the run has asked for is withdrawn.
 */
export function withAuthority<Steps extends Partial<AgentflowExecutionActivities>>(
  deps: HoldDeps,
  steps: Steps,
): Steps {
  const ownerOf = createOwnerOf(deps);
  const guarded = Object.entries(steps).map(([name, step]) => [
    name,
    async (request: never) => {
      await requireAuthorityOfRun(deps, ownerOf);
      return (step as (request: never) => Promise<unknown>)(request);
    },
  ]);
  // Each function has the type of the function that it wraps.
  return Object.fromEntries(guarded) as Steps;
}

/** `flow` for a run that works on a slice of the items of another one. */
type Owned = RunOwner & { flow?: { slice?: { root: string } } };
type OwnerOf = (executionId: string) => Promise<Owned | undefined>;

/** For whom a run acts never changes, so each worker reads it once. Whether they have a role is read for each step. */
function createOwnerOf({ collections: { executions } }: Pick<HoldDeps, 'collections'>): OwnerOf {
  const owners = new LRUCache<string, Owned>({ max: maxOwners });
  return async (_id) => {
    const known = owners.get(_id);
    if (known) return known;
    const projection = { projectID: 1, organization_id: 1, executed_by: 1, 'flow.slice.root': 1 };
    const run = await executions.findOne({ _id }, { projection });
    if (run) owners.set(_id, run);
    return run ?? undefined;
  };
}

const maxOwners = 10_000;

async function requireAuthorityOfRun(deps: HoldDeps, ownerOf: OwnerOf): Promise<void> {
  const context = Context.current();
  const id = (context.info.workflowExecution?.workflowId ?? '').slice(executionWorkflowId('').length);
  let ends = false;
  try {
    const run = await ownerOf(id);
    if (!run) return;
    const reason = await refusalToRun(deps.collections, run);
    if (reason === undefined) return;
    ends = (await noteHold(deps, run, reason)) === 'end';
    const root = run.flow?.slice?.root;
    if (!ends && root !== undefined) await holdDividedRun(deps, root, reason);
    throw new AppError('no_authority', reason);
  } catch (error) {
    throw failureOf(error, context, { more: () => (ends ? endsRun : {}) });
  }
}
