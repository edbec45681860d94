import { z } from 'zod';
import { scheduleId } from '../../../workflows/coworker-run/messages.js';
import { notFound } from '../../errors.js';
import { listOf } from '../../stores/lists.js';
import { seeOther } from '../browser/send-page.js';
import { send } from './pages/layout.js';
import { scheduleContent, schedulesContent } from './pages/schedules.js';
import { ScheduleRunsView, ScheduleView } from './views.js';
import { conflictIn, fieldOf, queryOf, undefinedWithoutTemporal, type Visit } from './visit.js';
import { statusOf } from '../rest/error-answers.js';

/** The page is short because it requests the next runs of each schedule from Temporal. */
const perPage = 10;

export async function showSchedules(visit: Visit): Promise<void> {
  const cursor = queryOf(visit.req, 'cursor');
  const query = { limit: perPage, ...(cursor !== undefined && { cursor }) };
  const page = listOf(ScheduleView).parse(await visit.call('get', '/schedule/coworker', { query }));
  const runs = await Promise.all(page.data.map(({ _id }) => runsOf(visit, _id, { limit: 1 })));
  const rows = page.data.map((schedule, at) => ({ schedule, runs: runs[at], uiLink: uiLinkOf(visit, schedule._id) }));
  send(visit, { title: 'Schedules', content: schedulesContent(visit, page, rows), refreshSeconds: 10 });
}

export async function showSchedule(visit: Visit, id: string, problem?: string): Promise<void> {
  const cursor = queryOf(visit.req, 'cursor');
  const schedule = ScheduleView.parse(await visit.call('get', '/schedule/coworker/{id}', { params: { id } }));
  const runs = await runsOf(visit, id, { limit: 25, ...(cursor !== undefined && { cursor }) });
  const move = visit.permits('patch', '/schedule/coworker/{id}') ? moveFor(schedule) : undefined;
  const content = scheduleContent(visit, {
    schedule,
    runs,
    uiLink: uiLinkOf(visit, id),
    move,
    problem,
    done: queryOf(visit.req, 'done'),
  });
  send(visit, {
    title: schedule.goal.template,
    content,
    ...(schedule.status !== 'completed' && { refreshSeconds: 5 }),
  });
}

/** Undefined if Temporal does not answer. */
async function runsOf(visit: Visit, id: string, query: Record<string, unknown>): Promise<ScheduleRunsView | undefined> {
  const answer = await visit
    .call('get', '/schedule/coworker/{id}/runs', { params: { id }, query })
    .catch(undefinedWithoutTemporal);
  return answer === undefined ? undefined : ScheduleRunsView.parse(answer);
}

function uiLinkOf({ deps }: Visit, id: string): string {
  return deps.temporal.scheduleUiLink(scheduleId(id));
}

const Move = z.enum(['pause', 'resume']);
type Move = z.infer<typeof Move>;

function moveFor({ status }: ScheduleView): Move | undefined {
  return ({ active: 'pause', paused: 'resume', completed: undefined } as const)[status];
}

/** Pauses or resumes the schedule. After a conflict, shows the current schedule with the reason of the conflict. */
export async function moveSchedule(visit: Visit, id: string, step: string): Promise<void> {
  const move = Move.safeParse(step);
  if (!move.success) throw notFound('page');
  const reason = fieldOf(visit.req, 'reason')?.trim() ?? '';
  const body = move.data === 'resume' ? { status: 'active' } : { status: 'paused', ...(reason !== '' && { reason }) };
  try {
    await visit.call('patch', '/schedule/coworker/{id}', { params: { id }, body });
  } catch (error) {
    const conflict = conflictIn(error);
    visit.res.status(statusOf(conflict));
    return showSchedule(visit, id, conflict.message);
  }
  seeOther(visit.res, `${visit.base}/schedules/${encodeURIComponent(id)}?done=${move.data}`);
}
