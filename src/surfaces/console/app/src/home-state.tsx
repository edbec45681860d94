import { Link } from '@tanstack/react-router';
import { call, capitalized } from './api.js';
import { Box } from './home-box.js';
import { durationText, rounded } from './parts.js';
import { quantity } from './quantity.js';
import { startOf } from './runs/filter.js';
import { apiAddress } from './session.js';
import { usePolled } from './use-polled.js';

export function Quota() {
  const calls = usePolled(['quota'], () => call('get', '/v1/quota'));
  const { data, error } = usePolled(['customer'], () => call('get', '/customer'));
  const { subscription_credits: subscription, top_up_credits: topUp } = data?.quota.number_of_credits ?? {};
  const left = data && String(rounded((subscription ?? 0) + (topUp ?? 0)));
  return (
    <Box name="Remaining credits" count={left} error={error ?? calls.error} link={{ to: '/usage' }}>
      {data && <p className="soft">Plan: {data.plan}</p>}
      {calls.data && (
        <p className="soft">
          Governed calls in the last {calls.data.window_seconds} seconds: {calls.data.project.used}
          {calls.data.project.max > 0 && ` of ${calls.data.project.max}`}
        </p>
      )}
    </Box>
  );
}

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

/** Shows whether the API process that serves this page and its dependencies are available. */
export function Health() {
  const { data, error } = usePolled(['home', 'health'], readHealth);
  return (
    <Box
      name="Health"
      count={data && capitalized(data.status.replaceAll('_', ' '))}
      error={error}
      rows={Object.entries(data?.dependencies ?? {}).map(([name, state]) => (
        <li key={name} className={state === 'down' ? 'bad' : undefined}>
          {name} {state}
        </li>
      ))}
    />
  );
}

const worstFirst = ['no_workers', 'delayed', 'ok'] as const;

/** Shows whether the workers of the service keep up. All projects share the queues. */
export function Workers() {
  const { data, error } = usePolled(['home', 'queues'], () => call('get', '/{projectID}/queues'));
  const states = data?.queues.map(({ state }) => state) ?? [];
  const worst = worstFirst.find((state) => states.includes(state))?.replaceAll('_', ' ');
  return (
    <Box
      name="Workers"
      count={worst && capitalized(worst)}
      error={error}
      link={{ to: '/runs', search: { state: 'running' } }}
      linkName={`Workers: ${worst}. Show active runs`}
      rows={data?.queues.map(({ name, state, oldest_waits_seconds: waits, temporal_ui_url: url }) => (
        <li key={name} className={state === 'ok' ? undefined : 'bad'}>
          <a href={url} rel="noreferrer">
            {name}
          </a>{' '}
          {state.replaceAll('_', ' ')}
          {waits !== null && `, oldest task waiting for ${durationText(waits)}`}
        </li>
      ))}
    >
      <p className="soft">All projects share these task queues.</p>
    </Box>
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

export function SyncHealth() {
  const { data, error } = usePolled(['home', 'syncs'], readSyncHealth);
  const { catalog, repositories = [] } = data?.syncs ?? {};
  return (
    <Box
      name="Syncs"
      count={data && quantity(repositories.length, 'repository', 'repositories')}
      error={error}
      link={{ to: '/syncs' }}
      rows={
        <>
          {catalog && (
            <li className={catalog.failure === null ? undefined : 'bad'}>
              Catalog {catalog.state}
              {catalog.failure !== null && `: ${catalog.failure}`}
            </li>
          )}
          {data?.failures.map(([tool, failures]) => (
            <li key={tool} className="bad">
              <Link to="/lifecycles" search={{ tool, status: 'failed', since: '24h' }}>
                {syncTools[tool]} failed in the last 24 hours: {failures}
              </Link>
            </li>
          ))}
        </>
      }
    />
  );
}
