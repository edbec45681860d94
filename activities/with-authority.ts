import { Context } from '@temporalio/activity';
import { AppError } from '../src/base/errors.js';
import { noteHold, refusalToRun, type HoldDeps } from '../src/domain/executions/operations/hold.js';
import { executionWorkflowId } from '../workflows/agentflow-execution/messages.js';
import { endsRun } from '../workflows/agentflow-execution/authority.js';
import type { StepActivities } from '../workflows/agentflow-execution/steps/index.js';
import { failureOf } from './failure.js';

/**
 * Lets the steps of a run begin only while the person for whom it acts has a role that permits it (docs/decisions/0018).
 * A refused step has had no effect, and what the run has asked for is withdrawn.
 */
export function withAuthority(deps: HoldDeps, steps: StepActivities): StepActivities {
  const guarded = Object.entries(steps).map(([name, step]) => [
    name,
    async (request: never) => {
      await requireAuthorityOfRun(deps);
      return (step as (request: never) => Promise<unknown>)(request);
    },
  ]);
  // Each function has the type of the function that it wraps.
  return Object.fromEntries(guarded) as StepActivities;
}

async function requireAuthorityOfRun(deps: HoldDeps): Promise<void> {
  const context = Context.current();
  const id = (context.info.workflowExecution?.workflowId ?? '').slice(executionWorkflowId('').length);
  let ends = false;
  try {
    const projection = { projectID: 1, organization_id: 1, executed_by: 1 };
    const run = await deps.collections.executions.findOne({ _id: id }, { projection });
    const reason = run && (await refusalToRun(deps.collections, run));
    if (typeof reason !== 'string') return;
    ends = (await noteHold(deps, run as NonNullable<typeof run>, reason)) === 'end';
    throw new AppError('no_authority', reason);
  } catch (error) {
    throw failureOf(error, context, { more: () => (ends ? endsRun : {}) });
  }
}
