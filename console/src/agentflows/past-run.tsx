import { useQuery } from '@tanstack/react-query';
import { createContext, useContext, useState, type ReactNode } from 'react';
import { call } from '../api.js';
import { SelectField } from '../field.js';
import { ReadOnlyFields } from '../read-only.js';
import { timeFormats, useTimeZone } from '../time-zone.js';

interface PastRun {
  agentflowId: string | undefined;
  /** The run whose values the expressions show; empty for none. */
  runId: string;
  choose: (runId: string) => void;
}

const Chosen = createContext<PastRun>({ agentflowId: undefined, runId: '', choose: () => undefined });
export const usePastRun = () => useContext(Chosen);

/** Lets the expressions of an agentflow show their values in one of its runs. */
export function PastRunProvider({ agentflowId, children }: { agentflowId: string | undefined; children: ReactNode }) {
  const [runId, choose] = useState('');
  return <Chosen value={{ agentflowId, runId, choose }}>{children}</Chosen>;
}

/** Chooses one of the newest runs. */
export function PastRunField() {
  const { agentflowId, runId, choose } = usePastRun();
  const timeZone = useTimeZone();
  const { data } = useQuery({
    queryKey: ['runs', 'past', agentflowId],
    queryFn: () =>
      call('get', '/{projectID}/execution_flows', {
        query: { agentflow_id: agentflowId ?? '', limit: 20, fields: 'summary' },
      }),
    enabled: agentflowId !== undefined,
  });
  const runs = data?.data.filter(({ status }) => status !== 'ready') ?? [];
  if (runs.length === 0) return null;
  return (
    // Who may only read chooses one, too.
    <ReadOnlyFields isReadOnly={false}>
      <SelectField
        label="Show values of"
        value={runId}
        options={[
          { value: '', name: 'No run' },
          ...runs.map(({ execution_id, goal, status, created_at }) => ({
            value: execution_id,
            name: `${goal} (${status}, ${timeFormats(timeZone).whole.format(new Date(created_at * 1000))})`,
          })),
        ]}
        onChange={choose}
      />
    </ReadOnlyFields>
  );
}
