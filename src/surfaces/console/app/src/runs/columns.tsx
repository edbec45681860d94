import { Link } from '@tanstack/react-router';
import type { Execution } from '../api.js';
import { ScheduleLink } from '../links.js';
import { Badge, Elapsed, Time } from '../parts.js';
import type { Column } from '../table.js';
import { failureOf, stateOf, waitingOf } from '../states.js';
import { useSchedules } from './choices.js';

interface RunColumn extends Column<Execution> {
  id: string;
  isShownByDefault: boolean;
}

/** Shows what a run waits for, or why it failed. */
function Reason({ run }: { run: Execution }) {
  const waiting = run.end_time === null ? waitingOf(run) : undefined;
  const text = waiting
    ? {
        preview: 'Waiting for a decision on a preview',
        approval: 'Waiting for approval',
        elicitation: 'Waiting for an answer to an MCP server',
        step: waiting.error,
      }[waiting.kind]
    : failureOf(run)?.message;
  return <span title={text}>{text ?? ''}</span>;
}

function Schedule({ run: { schedule } }: { run: Execution }) {
  const known = useSchedules();
  if (typeof schedule !== 'string') return null;
  const name = known?.data.find(({ _id }) => _id === schedule)?.goal.template ?? schedule;
  return (
    <ScheduleLink id={schedule}>
      <bdi>{name}</bdi>
    </ScheduleLink>
  );
}

export const columns: readonly RunColumn[] = [
  {
    id: 'state',
    name: 'State',
    width: '7.5rem',
    isShownByDefault: true,
    cell: (run) => <Badge state={stateOf(run)} />,
  },
  {
    id: 'goal',
    name: 'Goal',
    width: 'minmax(12rem, 3fr)',
    onNarrow: 'main',
    isShownByDefault: true,
    cell: ({ execution_id: runId, goal }) => (
      <Link to="/runs/$runId" params={(current) => ({ projectId: '', ...current, runId })}>
        <bdi>{goal === '' ? 'Without a goal' : goal}</bdi>
      </Link>
    ),
  },
  {
    id: 'agentflow',
    name: 'Agentflow',
    width: 'minmax(8rem, 1fr)',
    isShownByDefault: true,
    cell: ({ agentflow }) => <bdi>{agentflow.name}</bdi>,
  },
  {
    id: 'version',
    name: 'Version',
    width: '5rem',
    onNarrow: 'hidden',
    isShownByDefault: false,
    cell: ({ agentflow_version }) => agentflow_version,
  },
  {
    id: 'created',
    name: 'Created',
    width: '11rem',
    isShownByDefault: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  {
    id: 'duration',
    name: 'Duration',
    width: '6rem',
    isShownByDefault: true,
    cell: ({ created_at, end_time, status }) => (status === 'ready' ? '' : <Elapsed from={created_at} to={end_time} />),
  },
  {
    id: 'reason',
    name: 'Reason',
    width: 'minmax(8rem, 2fr)',
    onNarrow: 'hidden',
    isShownByDefault: true,
    cell: (run) => <Reason run={run} />,
  },
  {
    id: 'by',
    name: 'Started by',
    width: 'minmax(7rem, 1fr)',
    onNarrow: 'hidden',
    isShownByDefault: false,
    cell: ({ executed_by }) => <bdi>{executed_by.name}</bdi>,
  },
  {
    id: 'schedule',
    name: 'Schedule',
    width: 'minmax(7rem, 1fr)',
    onNarrow: 'hidden',
    isShownByDefault: false,
    cell: (run) => <Schedule run={run} />,
  },
  {
    id: 'how',
    name: 'Trigger',
    width: '6rem',
    onNarrow: 'hidden',
    isShownByDefault: false,
    cell: ({ executed_by }) => executed_by.type,
  },
  {
    id: 'ended',
    name: 'Ended',
    width: '11rem',
    onNarrow: 'hidden',
    isShownByDefault: false,
    cell: ({ end_time }) => <Time at={end_time} />,
  },
  {
    id: 'id',
    name: 'Id',
    width: '20rem',
    onNarrow: 'hidden',
    isShownByDefault: false,
    cell: ({ execution_id }) => <code>{execution_id}</code>,
  },
];

const storageName = 'console.runs.columns';

/** Returns the columns that this browser has stored. */
export function shownColumns(): readonly string[] {
  const known = columns.map(({ id }) => id);
  const kept = localStorage
    .getItem(storageName)
    ?.split(',')
    .filter((id) => known.includes(id));
  return kept && kept.length > 0 ? kept : columns.filter((column) => column.isShownByDefault).map(({ id }) => id);
}

export function keepColumns(ids: readonly string[]): void {
  localStorage.setItem(storageName, ids.join(','));
}
