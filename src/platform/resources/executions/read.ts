import { eventsQuery, executionWorkflowId, stateQuery, type ExecutionEvent, type ExecutionState } from '../../../../workflows/agentflow-execution/messages.js';
import { withDefaults } from '../../../../workflows/agentflow-execution/state.js';
import type { QueryDefinition } from '@temporalio/common';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { isAppError, notFound } from '../../../errors.js';
import { isId } from '../../../ids.js';
import { isWorkflowGone } from '../../../temporal/client.js';
import { isOver, type ExecutionDocument } from './record.js';

const queryTimeoutMs = 1500;

/** @throws AppError `not_found` for an unknown or malformed id, and for another project's execution */
export async function readExecution(deps: Pick<Deps, 'mongo'>, principal: Principal, id: string): Promise<ExecutionDocument> {
  const record = isId(id) ? await deps.mongo.collections.executions.findOne({ _id: id }) : null;
  if (!record || record.projectID !== principal.projectId) throw notFound('the execution');
  return record;
}

/** The workflow's own view of a run that is not over; undefined where there is none or nobody answers in time. */
export async function liveState(deps: Pick<Deps, 'temporal'>, record: RunReference): Promise<ExecutionState | undefined> {
  const state = await ask(deps, record, stateQuery);
  return state && withDefaults(state);
}

/** The newest events, which the store may not hold yet. */
export async function liveEvents(deps: Pick<Deps, 'temporal'>, record: RunReference): Promise<ExecutionEvent[]> {
  return (await ask(deps, record, eventsQuery)) ?? [];
}

type RunReference = Pick<ExecutionDocument, '_id' | 'status'>;

async function ask<T>(deps: Pick<Deps, 'temporal'>, record: RunReference, query: QueryDefinition<T>): Promise<T | undefined> {
  if (isOver(record.status)) return undefined;
  try {
    return await deps.temporal.call((client) => client.workflow.getHandle(executionWorkflowId(record._id)).query(query), queryTimeoutMs);
  } catch (error) {
    if (isWorkflowGone(error) || isAppError(error)) return undefined;
    throw error;
  }
}
