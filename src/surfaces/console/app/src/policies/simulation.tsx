import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call, type PolicyRule } from '../api.js';
import { LifecycleLink } from '../links.js';
import { Badge, Time, Section } from '../parts.js';
import { quantity } from '../quantity.js';
import { projectId } from '../session.js';

const reasons = {
  not_decided: 'ended before the policy check, or are internal tasks',
  unknown_operation: 'use an operation that no longer exists',
  facts_not_recorded: 'do not contain the facts that a rule needs',
  time_limit: 'exceeded the time limit',
} as const;

interface SimulationOptions {
  candidate: PolicyRule[];
  /** Lets the editor show why the API refused the candidate. */
  onFailure(error: unknown): void;
}

export function Simulation({ candidate, onFailure }: SimulationOptions) {
  const { data, error } = useQuery({
    queryKey: ['policies', 'simulation', candidate],
    queryFn: () => call('post', '/v1/policies/simulate', { body: { policies: candidate, n: 1000 } }),
    staleTime: Infinity,
    gcTime: 0,
  });
  useEffect(() => {
    if (error) onFailure(error);
    // Not `onFailure`: the editor passes a new function at each rendering.
  }, [error]);
  if (error) return null;
  if (!data) return <p role="status">Simulating the rules on the last recorded calls…</p>;
  const { evaluated, changed_count, changed, transitions, skipped } = data;
  return (
    <Section title="Simulation on recorded calls" level={3}>
      <p role="status">
        Of {quantity(evaluated, 'call')}, {changed_count} would be decided differently.
      </p>
      <ul>
        {transitions.map(({ from, to, count }) => (
          <li key={`${from} ${to}`}>
            {count} from {from.replaceAll('_', ' ')} to {to.replaceAll('_', ' ')}
          </li>
        ))}
        {skipped.map(({ reason, count }) => (
          <li key={reason} className="soft">
            {count} skipped: they {reasons[reason]}
          </li>
        ))}
      </ul>
      {changed.length > 0 && (
        <ul className="rows" aria-label="Calls with another decision">
          {changed.map(({ lifecycle_id, operation, project_id, at, recorded, candidate: next }) => (
            <li key={lifecycle_id}>
              {project_id === projectId ? <LifecycleLink id={lifecycle_id}>{operation}</LifecycleLink> : operation},{' '}
              <Time at={at} />: <Badge state={recorded.decision} /> by {recorded.rules.join(', ')}, would be{' '}
              <Badge state={next.decision} /> by {next.rules.join(', ') || 'no rule'}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
