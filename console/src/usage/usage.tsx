import { roleNames } from '../roles.js';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { PageQuery } from '@client/page.js';
import { call, inWords } from '../api.js';
import { curl } from '../curl.js';
import { List } from '../list.js';
import { Facts } from '../facts.js';
import { RunLink } from '../links.js';
import { Empty, Loading, Problem, Page, Section } from '../parts.js';
import { numberText } from '../quantity.js';
import { projectId, useMay, useSession } from '../session.js';
import { column, numberColumn, timeColumn, type Column } from '../table.js';
import panelStyles from '../panel.module.css';

const OverTime = lazy(() =>
  import('../charts/over-time.js').then(({ OverTime: component }) => ({ default: component })),
);
const route = getRouteApi('/usage');

export function Usage() {
  const { since = '30d' } = route.useSearch();
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
      {may('get /analytics/{projectID}') && (
        <Suspense fallback={<Loading />}>
          <OverTime since={since} page="/usage" />
        </Suspense>
      )}
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
          <div className={panelStyles.panels}>
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
    <div className={panelStyles.panel}>
      <label>
        {name}
        <meter min={0} max={max} high={Math.floor(max * 0.8)} optimum={0} value={used}>
          {used} of {max}
        </meter>
      </label>
      <p>
        {numberText(used)} of {numberText(max)} used, {numberText(Math.max(0, max - used))} left
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
        <>
          <Facts
            of={{
              Plan: data.plan,
              'Remaining plan credits': numberText(data.quota.number_of_credits.subscription_credits),
              'Remaining purchased credits': numberText(data.quota.number_of_credits.top_up_credits),
            }}
          />
          <div className={panelStyles.panels}>
            {limits.map(([field, name]) => (
              <Gauge key={field} name={name} used={data.usage[field]} max={data.quota[field]} />
            ))}
          </div>
        </>
      )}
    </Section>
  );
}

type Credit = Awaited<ReturnType<typeof readCredits>>['data'][number];
const readCredits = (query: PageQuery) => call('get', '/credit/history', { query });

const columns: readonly Column<Credit>[] = [
  timeColumn('Time', ({ at }) => at),
  numberColumn('Credits', { width: '7rem', onNarrow: 'main' }, ({ credits }) => numberText(credits)),
  column('Used for', { width: '9rem' }, ({ kind, model }) => model ?? inWords(kind)),
  column(
    'Tokens',
    { width: '14rem', onNarrow: 'hidden' },
    ({ kind, input_tokens, output_tokens }) =>
      kind === 'model_turn' && `${numberText(input_tokens ?? 0)} input, ${numberText(output_tokens ?? 0)} output`,
  ),
  column('Run', { width: 'minmax(12rem, 1fr)', onNarrow: 'hidden' }, ({ execution_id, project_id }) =>
    project_id === projectId ? <RunLink id={execution_id} /> : <code>{execution_id}</code>,
  ),
];

function Credits() {
  return (
    <Section title="Charges">
      <List
        name="Charges"
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
