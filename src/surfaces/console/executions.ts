import { newestEvents } from '../../domain/executions/events.js';
import { z } from 'zod';
import { executionWorkflowId } from '../../../workflows/agentflow-execution/messages.js';
import { notFound } from '../../errors.js';
import { listOf } from '../../stores/lists.js';
import { seeOther } from '../browser/send-page.js';
import { cancelContent } from './pages/cancel.js';
import { executionContent } from './pages/execution.js';
import { executionsContent } from './pages/executions.js';
import { send } from './pages/layout.js';
import { namesOf } from './people.js';
import { ExecutionRun, ExecutionStatus, ExecutionView, isOver } from './views.js';
import { conflictIn, fieldOf, queryOf, undefinedWithoutTemporal, type Visit } from './visit.js';
import { statusOf } from '../rest/error-answers.js';

export async function showExecutions(visit: Visit): Promise<void> {
  const { projectId } = visit.principal;
  const known = ExecutionStatus.safeParse(queryOf(visit.req, 'status'));
  const status = known.success ? known.data : undefined;
  const cursor = queryOf(visit.req, 'cursor');
  const query = { limit: 25, ...(status && { status }), ...(cursor !== undefined && { cursor }) };
  const answer = await visit.call('get', '/{projectID}/execution_flows', { params: { projectID: projectId }, query });
  const page = listOf(ExecutionView).parse(answer);
  const uiLink = (id: string) => visit.deps.temporal.uiLink(executionWorkflowId(id));
  send(visit, { title: 'Executions', content: executionsContent(visit, { page, status, uiLink }), refreshSeconds: 3 });
}

export async function showExecution(visit: Visit, id: string, problem?: string): Promise<void> {
  const params = { execution_id: id };
  const execution = ExecutionView.parse(await visit.call('get', '/execute_flow/{execution_id}', { params }));
  const by = execution.executed_by._id;
  const [run, events, names] = await Promise.all([
    visit
      .call('get', '/execute_flow/{execution_id}/monitoring', { params })
      .then((found) => ExecutionRun.parse(found), undefinedWithoutTemporal),
    newestEvents(visit.deps, visit.principal, id),
    namesOf(visit, [by]),
  ]);
  // An interrupted step ends shortly after its execution.
  const isSettled = isOver(execution.status) && !run?.steps.some(({ status }) => status === 'running');
  const content = executionContent(visit, {
    execution,
    by: names.get(by) ?? by,
    run,
    events,
    moves: movesFor(visit, execution),
    mayDecide: visit.permits('post', '/execute_flow/{execution_id}/preview'),
    problem,
    done: queryOf(visit.req, 'done'),
  });
  send(visit, { title: execution.goal, content, ...(!isSettled && { refreshSeconds: 2 }) });
}

const Move = z.enum(['pause', 'resume']);
type Move = z.infer<typeof Move>;

/** The actions that the state allows and the person may request. */
function movesFor(visit: Visit, { status }: ExecutionView): readonly (Move | 'cancel')[] {
  const open = {
    ready: ['cancel'],
    running: ['pause', 'cancel'],
    paused: ['resume', 'cancel'],
    completed: [],
    failed: [],
  } as const;
  return open[status].filter((move) => visit.permits('post', `/execute_flow/{execution_id}/${move}`));
}

export async function moveExecution(visit: Visit, id: string, step: string): Promise<void> {
  const move = Move.safeParse(step);
  if (!move.success) throw notFound('page');
  await request(visit, id, move.data, {});
}

export async function showCancel(visit: Visit, id: string): Promise<void> {
  const answer = await visit.call('get', '/execute_flow/{execution_id}', { params: { execution_id: id } });
  const execution = ExecutionView.parse(answer);
  if (!movesFor(visit, execution).includes('cancel'))
    return seeOther(visit.res, `${visit.base}/executions/${encodeURIComponent(id)}`);
  send(visit, { title: 'Cancel an execution', content: cancelContent(visit, execution) });
}

export async function cancelExecution(visit: Visit, id: string): Promise<void> {
  const reason = fieldOf(visit.req, 'reason')?.trim() ?? '';
  await request(visit, id, 'cancel', reason === '' ? {} : { reason });
}

const Decision = z.enum(['approve', 'reject']);

/**
 * Decides on the preview that the form showed. If the agent has proposed something else since then, shows that first.
 */
export async function decidePreview(visit: Visit, id: string): Promise<void> {
  const decision = Decision.safeParse(fieldOf(visit.req, 'decision'));
  if (!decision.success) return showExecution(visit, id, 'The form was not sent by one of its buttons.');
  const answer = await visit.call('get', '/execute_flow/{execution_id}', { params: { execution_id: id } });
  const agent_id = fieldOf(visit.req, 'agent_id') ?? '';
  const shown = ExecutionView.parse(answer).previews[agent_id];
  if (shown === undefined || shown.preview_id !== fieldOf(visit.req, 'preview_id')) {
    visit.res.status(409);
    return showExecution(
      visit,
      id,
      'The agent does not wait for this decision any more. What it waits for now is shown below.',
    );
  }
  const reason = fieldOf(visit.req, 'reason')?.trim() ?? '';
  await request(
    visit,
    id,
    'preview',
    {
      agent_id,
      preview_id: shown.preview_id,
      decision: decision.data,
      ...(decision.data === 'reject' && reason !== '' && { reason }),
    },
    decision.data,
  );
}

/** Sends the request. After a conflict, shows the current execution with the reason of the conflict. */
async function request(
  visit: Visit,
  id: string,
  what: Move | 'cancel' | 'preview',
  body: Record<string, unknown>,
  done: string = what,
): Promise<void> {
  try {
    await visit.call('post', `/execute_flow/{execution_id}/${what}`, { params: { execution_id: id }, body });
  } catch (error) {
    const conflict = conflictIn(error);
    visit.res.status(statusOf(conflict));
    return showExecution(visit, id, conflict.message);
  }
  seeOther(visit.res, `${visit.base}/executions/${encodeURIComponent(id)}?done=${done}`);
}
