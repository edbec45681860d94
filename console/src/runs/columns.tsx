import { Link } from '@tanstack/react-router';
import type { Execution } from '../api.js';
import { keptInBrowser } from '../kept.js';
import { ScheduleLink } from '../links.js';
import { Elapsed } from '../parts.js';
import { column, numberColumn, stateColumn, timeColumn, type Column } from '../table.js';
import { failureOf, stateOf, waitingOf, waitsForTurn } from '../states.js';
import { useSchedules } from './choices.js';

function Reason({ run }: { run: Execution }) {
  const waiting = run.end_time === null ? waitingOf(run) : undefined;
  const text = waiting
    ? {
        preview: 'Waiting for a decision on a preview',
        approval: 'Waiting for approval',
        elicitation: 'Waiting for an answer to an MCP server',
        question: 'Waiting for an answer to a question',
        event: `Waiting for the event ${waiting.name ?? ''}`,
        step: waiting.error,
        turn: waitsForTurn(waiting),
      }[waiting.kind]
    : failureOf(run)?.message;
  return <span title={text}>{text ?? ''}</span>;
}

function Schedule({ run: { schedule } }: { run: Execution }) {
  const known = useSchedules();
  if (typeof schedule !== 'string') return null;
  const name = known?.find(({ _id }) => _id === schedule)?.goal.template ?? schedule;
  return (
    <ScheduleLink id={schedule}>
      <bdi>{name}</bdi>
    </ScheduleLink>
  );
}

export const columns: readonly (Column<Execution> & { id: string })[] = [
  { id: 'state', ...stateColumn(stateOf, '7.5rem') },
  {
    id: 'goal',
    ...column('Goal', { width: 'minmax(12rem, 3fr)', onNarrow: 'main' }, ({ execution_id: runId, goal }) => (
      <Link to="/runs/$runId" params={(current) => ({ projectId: '', ...current, runId })}>
        <bdi>{goal === '' ? 'Without a goal' : goal}</bdi>
      </Link>
    )),
  },
  {
    id: 'agentflow',
    ...column('Agentflow', { width: 'minmax(8rem, 2fr)' }, ({ agentflow }) => <bdi>{agentflow.name}</bdi>),
  },
  {
    id: 'version',
    ...numberColumn('Version', { width: '5.5rem', onNarrow: 'hidden' }, (run) => run.agentflow_version),
  },
  { id: 'created', ...timeColumn('Created', ({ created_at }) => created_at) },
  {
    id: 'duration',
    ...numberColumn('Duration', { width: '7.5rem' }, ({ created_at, end_time, status }) =>
      status === 'ready' ? '' : <Elapsed from={created_at} to={end_time} />,
    ),
  },
  {
    id: 'reason',
    ...column('Reason', { width: 'minmax(8rem, 2fr)', onNarrow: 'hidden' }, (run) => <Reason run={run} />),
  },
  {
    id: 'by',
    ...column('Started by', { width: 'minmax(7rem, 1fr)', onNarrow: 'hidden' }, (run) => (
      <bdi>{run.executed_by.name}</bdi>
    )),
  },
  {
    id: 'schedule',
    ...column('Schedule', { width: 'minmax(7rem, 1fr)', onNarrow: 'hidden' }, (run) => <Schedule run={run} />),
  },
  { id: 'how', ...column('Trigger', { width: '6rem', onNarrow: 'hidden' }, ({ executed_by }) => executed_by.type) },
  { id: 'ended', ...timeColumn('Ended', ({ end_time }) => end_time, 'hidden') },
  {
    id: 'id',
    ...column('Id', { width: '20rem', onNarrow: 'hidden' }, ({ execution_id }) => <code>{execution_id}</code>),
  },
];
const shownByDefault = ['state', 'goal', 'agentflow', 'created', 'duration', 'reason'];

const storageName = 'console.runs.columns';

/** Returns the columns that this browser has stored. */
export function shownColumns(): readonly string[] {
  const known = columns.map(({ id }) => id);
  const kept = keptInBrowser
    .read(storageName)
    ?.split(',')
    .filter((id) => known.includes(id));
  return kept && kept.length > 0 ? kept : shownByDefault;
}

export function keepColumns(ids: readonly string[]): void {
  keptInBrowser.keep(storageName, ids.join(','));
}
