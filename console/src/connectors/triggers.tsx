import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call, type Connector } from '../api.js';
import { Problem, Section } from '../parts.js';
import textStyles from '../styles/text.module.css';
import listStyles from '../styles/lists.module.css';

export function Triggers({ connector: { category, triggers } }: { connector: Connector }) {
  const { data, error } = useQuery({
    queryKey: ['trigger-actions', category],
    queryFn: () => call('get', '/actions/triggers', { query: { category } }),
    staleTime: Infinity,
  });
  const known = triggers as {
    event?: string;
    agentflow_id?: string;
    goal?: string;
    kind?: string;
    trigger_id?: string;
  }[];
  return (
    <Section title="Triggers">
      <Problem error={error} />
      {known.length === 0 && <p className={textStyles.soft}>No events of this connector start runs.</p>}
      <ul className={listStyles.rows}>
        {known.map(({ event = '*', agentflow_id, goal, kind, trigger_id }, at) => (
          <li key={trigger_id ?? at}>
            <strong>{event === '*' ? 'Every event' : event}</strong>
            {kind !== undefined && ` (${kind})`}
            {agentflow_id !== undefined && (
              <>
                {' starts '}
                <Link to="/runs" search={{ agentflow: agentflow_id }}>
                  {agentflow_id}
                </Link>
              </>
            )}
            {goal !== undefined && (
              <span className={textStyles.soft}>
                {': '}
                <bdi>{goal}</bdi>
              </span>
            )}
            {trigger_id !== undefined && kind !== undefined && (
              <p className={textStyles.soft}>
                Trigger id in the callback path: <code>{trigger_id}</code>
              </p>
            )}
          </li>
        ))}
      </ul>
      {data && data.data.length > 0 && (
        <details>
          <summary>Available events</summary>
          <ul className={listStyles.rows}>
            {data.data.map(({ event, name, description }) => (
              <li key={event}>
                <code>{event}</code> {name}: <span className={textStyles.soft}>{description}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Section>
  );
}
