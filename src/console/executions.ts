import { z } from 'zod';
import { executionWorkflowId } from '../../workflows/agentflow-execution/messages.js';
import { isAppError, notFound } from '../errors.js';
import { listOf } from '../http/lists.js';
import { seeOther } from '../http/pages/send-page.js';
import { cancelContent } from './pages/cancel.js';
import { executionContent } from './pages/execution.js';
import { executionsContent } from './pages/executions.js';
import { send } from './pages/layout.js';
import { namesOf } from './people.js';
import { ExecutionRun, ExecutionStatus, ExecutionView, isOver } from './views.js';
import { fieldOf, queryOf, type Visit } from './visit.js';

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
    visit.call('get', '/execute_flow/{execution_id}/monitoring', { params }).then((found) => ExecutionRun.parse(found), undefinedWithout),
    visit.ports.executions.events(visit.principal, id),
    namesOf(visit, [by]),
  ]);
  // A step that was interrupted settles a moment after the execution did.
  const isSettled = isOver(execution.status) && !run?.steps.some(({ status }) => status === 'running');
  const content = executionContent(visit, { execution, by: names.get(by) ?? by, run, events, moves: movesFor(visit, execution), problem, done: queryOf(visit.req, 'done') });
  send(visit, { title: execution.goal, content, ...(!isSettled && { refreshSeconds: 2 }) });
}

/** Temporal may be down; the records then still show what was. */
function undefinedWithout(error: unknown): undefined {
  if (isAppError(error) && error.code === 'unavailable') return undefined;
  throw error;
}

const Move = z.enum(['pause', 'resume']);
type Move = z.infer<typeof Move>;

/** The moves that the state leaves open, of those that the person may ask for at all. */
function movesFor(visit: Visit, { status }: ExecutionView): readonly (Move | 'cancel')[] {
  const open = { ready: ['cancel'], running: ['pause', 'cancel'], paused: ['resume', 'cancel'], completed: [], failed: [] } as const;
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
  if (!movesFor(visit, execution).includes('cancel')) return seeOther(visit.res, `${visit.base}/executions/${encodeURIComponent(id)}`);
  send(visit, { title: 'Cancel an execution', content: cancelContent(visit, execution) });
}

export async function cancelExecution(visit: Visit, id: string): Promise<void> {
  const reason = fieldOf(visit.req, 'reason')?.trim() ?? '';
  await request(visit, id, 'cancel', reason === '' ? {} : { reason });
}

/** A conflict shows the execution as it is now, with what stood against the move. */
async function request(visit: Visit, id: string, move: Move | 'cancel', body: Record<string, unknown>): Promise<void> {
  try {
    await visit.call('post', `/execute_flow/{execution_id}/${move}`, { params: { execution_id: id }, body });
  } catch (error) {
    if (!isAppError(error) || error.code !== 'conflict') throw error;
    visit.res.status(error.status);
    return showExecution(visit, id, `${error.message[0]?.toUpperCase()}${error.message.slice(1)}.`);
  }
  seeOther(visit.res, `${visit.base}/executions/${encodeURIComponent(id)}?done=${move}`);
}
