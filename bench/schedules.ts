import { newId } from '../src/base/ids.js';
import { executionWorkflowId } from '../workflows/agentflow-execution/messages.js';
import { eventually } from '../test/support/eventually.js';
import { flowThatCalls } from '../test/support/flows.js';
import { bareSteps } from './bare/workflows.js';
import type { BenchEnvironment } from './environment.js';
import { figure, inParallel, percentile, range, timed, type Figure } from './measure.js';

const count = 500;
const callers = 20;

/** Compares how late runs start when 500 are due in the same second with 500 bare Temporal Schedules. */
export async function benchSchedules(bench: BenchEnvironment): Promise<Figure[]> {
  const bare = await bareDelays(bench);
  const { runs, executions } = await ourDelays(bench);
  const delays = { 'planned to started': runs, "planned to the execution's start": executions };
  const shares = { median: 0.5, p95: 0.95 };
  return Object.entries(delays).flatMap(([what, ours]) =>
    Object.entries(shares).map(([name, share]) => {
      const values = [percentile(ours, share), percentile(bare, share)] as const;
      const goal = what === 'planned to started' && name === 'p95' ? 'at most 1.15' : 'none set';
      return figure(`${count} due together: ${what}, ${name}`, 's', ...values, goal);
    }),
  );
}

type Make = (at: number) => Promise<void>;

/** Creates all schedules for one time, which is after the last creation. */
async function dueTogether(make: Make): Promise<number> {
  const rehearsal = await timed(() => inParallel(range(40), callers, () => make(Date.now() / 1000 + 86_400)));
  const due = Math.ceil(Date.now() / 1000 + ((1.5 * count) / 40) * (rehearsal / 1000) + 5);
  await inParallel(range(count), callers, () => make(due));
  if (Date.now() / 1000 > due) throw new Error('the schedules were not made in time');
  return due;
}

async function ourDelays(bench: BenchEnvironment): Promise<{ runs: number[]; executions: number[] }> {
  const { api, projectID } = await bench.workspace();
  const { schedule_runs, executions } = bench.deps.mongo.collections;
  const agentflow = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls([]));
  await api.post(`/agentflow/${agentflow.body._id}/promote`, {});
  const due = await dueTogether(async (at) => {
    const made = await api.post(`/schedule/coworker?projectID=${projectID}`, {
      coworker_id: agentflow.body._id,
      goal: 'bench',
      type: 'once',
      schedule: at,
    });
    if (made.status !== 201) throw new Error(`a schedule was not made: ${JSON.stringify(made.body)}`);
  });
  const ended = async () => (await schedule_runs.countDocuments({ projectID, status: 'completed' })) === count;
  await eventually(
    async () => {
      if (!(await ended())) throw new Error('not all have run');
    },
    { timeoutMs: 600_000, everyMs: 2000 },
  );
  const runs = await schedule_runs.find({ projectID }).toArray();
  const made = await executions.find({ projectID }, { projection: { started_at: 1 } }).toArray();
  return {
    runs: runs.map(({ started_at }) => started_at - due),
    executions: made.map(({ _id, started_at }) => (started_at ?? missing(executionWorkflowId(_id))) - due),
  };
}

async function bareDelays({ bareClient: client, bareTaskQueue }: BenchEnvironment): Promise<number[]> {
  const ids: string[] = [];
  const due = await dueTogether(async (at) => {
    const id = `bare-schedule/${newId()}`;
    const moment = new Date(at * 1000);
    await client.schedule.create({
      scheduleId: id,
      spec: { intervals: [{ every: '100d', offset: `${moment.getTime() % (100 * 86_400_000)}ms` }], startAt: moment },
      action: { type: 'startWorkflow', workflowType: bareSteps, workflowId: id, taskQueue: bareTaskQueue, args: [1] },
      state: { remainingActions: 1 },
    });
    ids.push(id);
  });
  const delays: number[] = [];
  await inParallel(ids.slice(-count), callers, async (id) => {
    const [taken] = await eventually(
      async () => {
        const { info } = await client.schedule.getHandle(id).describe();
        if (info.recentActions.length === 0) throw new Error(`${id} has not fired`);
        return info.recentActions;
      },
      { timeoutMs: 300_000, everyMs: 1000 },
    );
    const handle = client.workflow.getHandle(taken?.action.workflow.workflowId ?? id);
    await handle.result();
    const { events } = await handle.fetchHistory();
    const started = events?.find((event) => event.workflowTaskStartedEventAttributes)?.eventTime;
    delays.push(Number(started?.seconds ?? missing(id)) + (started?.nanos ?? 0) / 1e9 - due);
  });
  await inParallel(ids, callers, (id) => client.schedule.getHandle(id).delete());
  return delays;
}

function missing(what: string): never {
  throw new Error(`${what} has no start`);
}
