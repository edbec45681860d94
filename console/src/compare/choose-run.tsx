import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call, type Execution } from '../api.js';
import { TextField } from '../field.js';
import { Badge, Loaded, Window } from '../parts.js';
import { Time } from '../time.js';
import { stateOf } from '../states.js';
import textStyles from '../styles/text.module.css';
import listStyles from '../styles/lists.module.css';

const shownRuns = 20;

/** Lists other runs of the same agentflow, newest first. */
export function ChooseRun({ run, onClose }: { run: Execution; onClose: () => void }) {
  const [text, setText] = useState('');
  const searched = text.trim();
  const query = useQuery({
    queryKey: ['runs', 'to compare', run.agentflow_id, searched],
    queryFn: () =>
      call('get', '/{projectID}/execution_flows', {
        query: { agentflow_id: run.agentflow_id, limit: shownRuns + 1, ...(searched !== '' && { text: searched }) },
      }),
    placeholderData: (before) => before,
  });
  return (
    <Window title="Compare with" isDrawer onClose={onClose}>
      <TextField label="Find a run of this agentflow" type="search" text={text} onChange={setText} maxLength={100} />
      <Loaded query={query}>
        {({ data }) => {
          const others = data.filter(({ execution_id }) => execution_id !== run.execution_id).slice(0, shownRuns);
          return (
            <>
              {others.length === 0 && <p className={textStyles.soft}>No other run was found.</p>}
              <ul className={listStyles.rows}>
                {others.map((other) => (
                  <li key={other.execution_id}>
                    <Badge state={stateOf(other)} />{' '}
                    <Link to="/runs/compare" search={{ left: run.execution_id, right: other.execution_id }}>
                      <bdi>{other.goal === '' ? 'Without a goal' : other.goal}</bdi>
                    </Link>{' '}
                    <span className={textStyles.soft}>
                      <Time at={other.created_at} />
                    </span>
                  </li>
                ))}
              </ul>
            </>
          );
        }}
      </Loaded>
    </Window>
  );
}
