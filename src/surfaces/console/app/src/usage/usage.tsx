import { roleNames } from '../roles.js';
import { useQuery } from '@tanstack/react-query';
import type { PageQuery } from '../../../../../../sdk/node/src/page.js';
import { call } from '../api.js';
import { curl } from '../curl.js';
import { List } from '../list.js';
import { Facts } from '../facts.js';
import { RunLink } from '../links.js';
import { Empty, Problem, Page, rounded, Section } from '../parts.js';
import { projectId, useMay, useSession } from '../session.js';
import { column, timeColumn, type Column } from '../table.js';

export function Usage() {
  const { project } = useSession().session;
  const may = useMay();
  return (
    <Page title="Usage">
      <Facts
        of={{
          Project: <bdi>{project?.name}</bdi>,
          Organization: <bdi>{project?.organization}</bdi>,
          'Your role': roleNames(project?.roles ?? []),
        }}
      />
      <QuotaSection />
      {may('get /customer') && <Plan />}
      {may('get /credit/history') && <Credits />}
    </Page>
  );
}

function QuotaSection() {
  // The rate decreases without an event, so the page polls.
  const { data, error } = useQuery({
    queryKey: ['quota'],
    queryFn: () => call('get', '/v1/quota'),
    refetchInterval: 3000,
  });
  return (
    <Section title="Quota">
      <Problem error={error} />
      {data && (
        <>
          <p>Governed calls in the last {data.window_seconds} seconds, compared with the limits.</p>
          <div className="panels">
            <Gauge name="This project" {...data.project} />
            <Gauge name="Organization" {...data.organization} />
          </div>
        </>
      )}
    </Section>
  );
}

function Gauge({ name, used, max }: { name: string; used: number; max: number }) {
  if (max === 0)
    return (
      <p>
        <strong>{name}</strong>: unlimited
      </p>
    );
  return (
    <div className="panel">
      <label>
        {name}
        <meter min={0} max={max} high={Math.floor(max * 0.8)} optimum={0} value={used}>
          {used} of {max}
        </meter>
      </label>
      <p>
        {used} of {max} used, {Math.max(0, max - used)} left
      </p>
    </div>
  );
}

const limits = [
  ['number_of_coworkers', 'Agentflows'],
  ['number_of_members', 'Members'],
  ['number_of_workspaces', 'Projects'],
  ['number_of_tables', 'Tables'],
  ['number_of_connectors', 'Connectors'],
  ['number_of_premium_connectors', 'Premium connectors'],
  ['storage_space_in_mb', 'Storage in MB'],
] as const;

function Plan() {
  const { data, error } = useQuery({ queryKey: ['customer'], queryFn: () => call('get', '/customer') });
  return (
    <Section title="Organization plan">
      <Problem error={error} />
      {data && (
        <Facts
          of={{
            Plan: data.plan,
            'Remaining plan credits': rounded(data.quota.number_of_credits.subscription_credits),
            'Remaining purchased credits': rounded(data.quota.number_of_credits.top_up_credits),
            ...Object.fromEntries(
              limits.map(([field, name]) => [name, `${data.usage[field]} of ${data.quota[field]}`]),
            ),
          }}
        />
      )}
    </Section>
  );
}

type Credit = Awaited<ReturnType<typeof readCredits>>['data'][number];
const readCredits = (query: PageQuery) => call('get', '/credit/history', { query });

const columns: readonly Column<Credit>[] = [
  timeColumn('Time', ({ at }) => at),
  column('Credits', { width: '7rem', onNarrow: 'main' }, ({ credits }) => credits),
  column('Used for', { width: '9rem' }, ({ kind, model }) => model ?? kind.replaceAll('_', ' ')),
  column(
    'Tokens',
    { width: '10rem', onNarrow: 'hidden' },
    ({ kind, input_tokens, output_tokens }) =>
      kind === 'model_turn' && `${input_tokens} input, ${output_tokens} output`,
  ),
  column('Run', { width: 'minmax(12rem, 1fr)', onNarrow: 'hidden' }, ({ execution_id, project_id }) =>
    project_id === projectId ? <RunLink id={execution_id} /> : <code>{execution_id}</code>,
  ),
];

function Credits() {
  return (
    <Section title="Credits">
      <List
        name="Credits"
        counted={['charge', 'charges']}
        queryKey={['credits']}
        load={readCredits}
        columns={columns}
        keyOf={({ _id }) => _id}
        empty={
          <Empty command={curl('v1/run-agent', { agentflow_id: '<agentflow id>', goal: 'Try it' })}>
            No credits have been charged yet in the projects that you may see. Runs use credits. To start a run, use
            this command:
          </Empty>
        }
      />
    </Section>
  );
}
