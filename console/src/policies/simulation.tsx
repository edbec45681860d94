import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call, inWords, type PolicyRule } from '../api.js';
import { LifecycleLink } from '../links.js';
import { Badge, Section } from '../parts.js';
import { Time } from '../time.js';
import { projectId } from '../session.js';
import messageStyles from '../styles/message.module.css';
import { operationText } from '../words/words.js';
import listStyles from '../styles/lists.module.css';

/** The whole set, or one rule in addition to those in force. */
export type Candidate = { policies: PolicyRule[] } | { rule: PolicyRule };

interface SimulationOptions {
  candidate: Candidate;
  /** Lets the editor show why the API refused the candidate. */
  onFailure(error: unknown): void;
}

const reasons = {
  not_decided: 'ended before the policy check, or are internal tasks',
  unknown_operation: 'use an operation that no longer exists',
  facts_not_recorded: 'do not contain the facts that a rule needs',
  time_limit: 'exceeded the time limit',
} as const;

export function Simulation({ candidate, onFailure }: SimulationOptions) {
  const { data, error } = useQuery({
    queryKey: ['policies', 'simulation', candidate],
    queryFn: () => call('post', '/v1/policies/simulate', { body: { ...candidate, n: 1000 } }),
    staleTime: Infinity,
    gcTime: 0,
  });
  useEffect(() => {
    if (error) onFailure(error);
    // Not `onFailure`: the editor passes a new function at each rendering.
  }, [error]);
  if (error) return null;
  if (!data) return <p role="status">Trying the rules on the last recorded calls…</p>;
  const { summary, changed, transitions, skipped } = data;
  const isIncomplete = skipped.some(({ reason }) => reason === 'facts_not_recorded' || reason === 'time_limit');
  return (
    <Section title="Result on recorded calls" level={3}>
      {/* What could not be tried looks like the result itself, so that nobody reads "0" as "safe". */}
      <div role="status" className={isIncomplete ? messageStyles.note : undefined}>
        {summary.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
      <ul>
        {transitions.map(({ from, to, count }) => (
          <li key={`${from} ${to}`}>
            {count} from {inWords(from)} to {inWords(to)}
          </li>
        ))}
        {skipped.map(({ reason, count }) => (
          <li key={reason}>
            {count} not tried: they {reasons[reason]}
          </li>
        ))}
      </ul>
      {isIncomplete && <p>To see how the rules decide such a call, write it under “Evaluate a call”.</p>}
      {changed.length > 0 && (
        <ul className={listStyles.rows} aria-label="Calls with another decision">
          {changed.map(({ lifecycle_id, operation, project_id, at, recorded, candidate: next }) => (
            <li key={lifecycle_id}>
              {project_id === projectId ? (
                <LifecycleLink id={lifecycle_id}>{operationText(operation)}</LifecycleLink>
              ) : (
                operationText(operation)
              )}
              , <Time at={at} />: <Badge state={recorded.decision} /> by {recorded.rules.join(', ')}, would be{' '}
              <Badge state={next.decision} /> by {next.rules.join(', ') || 'no rule'}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
