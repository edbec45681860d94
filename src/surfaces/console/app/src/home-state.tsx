import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from './api.js';
import { slowly } from './news.js';
import { Problem } from './parts.js';
import { apiAddress, projectId } from './session.js';

/** The credits that the organization has left. */
export function Quota() {
  const { data, error } = useQuery({
    queryKey: ['home', 'quota'],
    queryFn: () => call('get', '/customer'),
    refetchInterval: slowly,
  });
  const { subscription_credits: subscription, top_up_credits: topUp } = data?.quota.number_of_credits ?? {};
  const left = data && String(Math.round(((subscription ?? 0) + (topUp ?? 0)) * 100) / 100);
  return (
    <section className="panel" aria-label="Credits left">
      <h2>Credits left</h2>
      <Problem error={error} />
      <p className="number">
        {left === undefined ? (
          '…'
        ) : (
          <Link to="/projects/$projectId/usage" params={{ projectId }} aria-label={`Credits left: ${left}`}>
            {left}
          </Link>
        )}
      </p>
      {data && <p className="soft">Plan {data.plan}</p>}
    </section>
  );
}

interface Readiness {
  status: string;
  dependencies: Record<string, 'up' | 'down'>;
  indexes: string;
}

/** 503 has a body as well: it names what is down. */
async function readHealth(): Promise<Readiness> {
  const response = await fetch(new URL('readyz', apiAddress));
  return (await response.json()) as Readiness;
}

/** Whether the API process that answers this page, and what it depends on, is up. */
export function Health() {
  const { data, error } = useQuery({ queryKey: ['home', 'health'], queryFn: readHealth, refetchInterval: slowly });
  return (
    <section className="panel" aria-label="Health">
      <h2>Health</h2>
      <Problem error={error} />
      <p className="number">{data ? data.status.replaceAll('_', ' ') : '…'}</p>
      <ul className="rows">
        {Object.entries(data?.dependencies ?? {}).map(([name, state]) => (
          <li key={name} className={state === 'down' ? 'bad' : undefined}>
            {name} {state}
          </li>
        ))}
      </ul>
    </section>
  );
}
