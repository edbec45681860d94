import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call, inWords } from './api.js';
import { durationText, Problem } from './parts.js';
import { numberText, quantity } from './quantity.js';
import { startOf } from './runs/filter.js';
import { apiAddress, useMay } from './session.js';
import { usePolled } from './use-polled.js';
import panelStyles from './panel.module.css';

/** One line: what is fine in few words, and what is not in red. */
export function StateOfService({ children }: { children: ReactNode }) {
  const may = useMay();
  return (
    <ul className={panelStyles.line} aria-label="State">
      <Health />
      {may('get /{projectID}/queues') && <Workers />}
      {may('get /{projectID}/syncs') && <Syncs />}
      {may('get /customer') && <Credits />}
      {children}
    </ul>
  );
}

interface StateOptions {
  /** What is wrong. */
  problems: readonly ReactNode[];
  error: unknown;
  /** Shown if nothing is wrong. */
  children: ReactNode;
}

function State({ problems, error, children }: StateOptions) {
  if (error)
    return (
      <li>
        <Problem error={error} />
      </li>
    );
  if (problems.length === 0) return <li>{children}</li>;
  return problems.map((problem, at) => (
    <li key={at} className={panelStyles.alarm}>
      <span role="alert">
        <span aria-hidden="true">✕</span> {problem}
      </span>
    </li>
  ));
}

const fine = (text: ReactNode) => (
  <>
    <span aria-hidden="true">✓</span> {text}
  </>
);

interface Readiness {
  status: string;
  dependencies: Record<string, 'up' | 'down'>;
  indexes: string;
}

/** A 503 response also has a body, which names the unavailable dependencies. */
async function readHealth(): Promise<Readiness> {
  const response = await fetch(new URL('readyz', apiAddress));
  return (await response.json()) as Readiness;
}

const dependencyNames: Readonly<Record<string, string>> = { mongodb: 'MongoDB', neo4j: 'Neo4j', temporal: 'Temporal' };

/** Says whether the API process that serves this page and its dependencies are available. */
function Health() {
  const { data, error } = usePolled(['home', 'health'], readHealth);
  if (!data && !error) return null;
  const down = Object.entries(data?.dependencies ?? {}).filter(([, state]) => state === 'down');
  return (
    <State problems={down.map(([name]) => `${dependencyNames[name] ?? name} cannot be reached`)} error={error}>
      {fine('Service and stores work')}
    </State>
  );
}

/** Says whether the workers of the service keep up. All projects share the queues. */
function Workers() {
  const { data, error } = usePolled(['home', 'queues'], () => call('get', '/{projectID}/queues'));
  if (!data && !error) return null;
  const late = data?.queues.filter(({ state }) => state !== 'ok') ?? [];
  const problems = late.map(({ name, state, oldest_waits_seconds: waits, temporal_ui_url: url }) => (
    <>
      Task queue{' '}
      <a href={url} rel="noreferrer">
        {name}
      </a>
      : {inWords(state)}
      {waits !== null && `, oldest task waiting for ${durationText(waits)}`}
    </>
  ));
  return (
    <State problems={problems} error={error}>
      {fine('Workers keep up')}
    </State>
  );
}

const syncTools = { 'catalog-sync': 'Catalog syncs', 'code-sync': 'Code syncs' } as const;
type SyncTool = keyof typeof syncTools;

async function readSyncHealth() {
  const from = startOf('24h');
  const failed = async (tool: SyncTool) => {
    const { total_count } = await call('get', '/v1/lifecycles', { query: { tool, status: 'failed', from, limit: 1 } });
    return [tool, total_count] as const;
  };
  const [syncs, ...counts] = await Promise.all([
    call('get', '/{projectID}/syncs'),
    failed('catalog-sync'),
    failed('code-sync'),
  ]);
  return { syncs, failures: counts.filter(([, count]) => count > 0) };
}

/** Says nothing if the project synchronizes nothing. */
function Syncs() {
  const { data, error } = usePolled(['home', 'syncs'], readSyncHealth);
  const { catalog, repositories = [] } = data?.syncs ?? {};
  const problems = [
    ...(catalog && catalog.failure !== null
      ? [
          <Link key="catalog" to="/syncs">
            The sync of the catalog failed: {catalog.failure}
          </Link>,
        ]
      : []),
    ...(data?.failures ?? []).map(([tool, failures]) => (
      <Link key={tool} to="/lifecycles" search={{ tool, status: 'failed', since: '24h' }}>
        {syncTools[tool]} failed in the last 24 hours: {numberText(failures)}
      </Link>
    )),
  ];
  if (problems.length === 0 && repositories.length === 0 && !error) return null;
  return (
    <State problems={problems} error={error}>
      <Link to="/syncs">{quantity(repositories.length, 'repository followed', 'repositories followed')}</Link>
    </State>
  );
}

function Credits() {
  const { data, error } = usePolled(['customer'], () => call('get', '/customer'));
  if (!data && !error) return null;
  const { subscription_credits: subscription, top_up_credits: topUp } = data?.quota.number_of_credits ?? {};
  const left = (subscription ?? 0) + (topUp ?? 0);
  return (
    <State problems={left > 0 ? [] : [<Link to="/usage">No credits are left</Link>]} error={error}>
      <Link to="/usage">Remaining credits: {numberText(left)}</Link>
    </State>
  );
}
