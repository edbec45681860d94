import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Autocomplete, Input, Menu, MenuItem, SearchField, Text } from 'react-aria-components';
import { call } from '../api.js';
import { Window } from '../parts.js';
import type { RunFilter } from '../runs/filter.js';
import { useMay } from '../session.js';
import { stateOf } from '../states.js';
import { useOfferedPages } from '../use-offered-pages.js';
import { useActions, type Command } from './use-actions.js';
import textStyles from '../styles/text.module.css';
import menuStyles from '../menu.module.css';
import styles from './palette.module.css';

const shortcuts: readonly { name: string; filter: RunFilter }[] = [
  { name: 'Runs waiting for a decision', filter: { state: 'waiting' } },
  { name: 'Failed runs in the last 24 hours', filter: { state: 'failed', since: '24h' } },
  { name: 'Active runs', filter: { state: 'running' } },
  { name: 'Paused runs', filter: { state: 'paused' } },
];

export function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const commands = useCommands(typed);
  const matching = commands.filter(
    ({ name, isFound }) => isFound || name.toLowerCase().includes(typed.trim().toLowerCase()),
  );
  return (
    <Window title="Go to" onClose={onClose}>
      <Autocomplete inputValue={typed} onInputChange={setTyped}>
        <SearchField aria-label="Action, page, list or run" autoFocus className={styles.search}>
          <Input placeholder="Action, page, list, agentflow, or goal of a run" maxLength={100} />
        </SearchField>
        <Menu
          aria-label="Results"
          className={styles.results}
          items={matching}
          onAction={(key) => {
            onClose();
            commands.find(({ id }) => id === key)?.go();
          }}
          renderEmptyState={() => <p className={textStyles.soft}>No results.</p>}
        >
          {({ id, name, kind, state }) => (
            <MenuItem id={id} textValue={name} className={menuStyles.item ?? ''}>
              <Text slot="label">
                <bdi>{name}</bdi>{' '}
                <span className={textStyles.soft}>
                  {kind}
                  {state && `, ${state}`}
                </span>
              </Text>
            </MenuItem>
          )}
        </Menu>
      </Autocomplete>
    </Window>
  );
}

function useCommands(typed: string): Command[] {
  const actions = useActions();
  const navigate = useNavigate();
  const may = useMay();
  const seesRuns = may('get /{projectID}/execution_flows');
  const pages = useOfferedPages().flatMap((group) => group.pages);
  const text = useDebounced(typed.trim());
  const found = useSearchResults(text);
  return [
    ...actions,
    ...pages.map(({ path, name }) => ({
      id: `page/${path}`,
      name,
      kind: 'page',
      go: () => void navigate({ to: path as '/' }),
    })),
    ...(seesRuns ? shortcuts : []).map(({ name, filter }) => ({
      id: `list/${name}`,
      name,
      kind: 'list',
      go: () => void navigate({ to: '/runs', search: filter }),
    })),
    // Results for an earlier text are not offered.
    ...(text === typed.trim() ? found : []),
  ];
}

function useSearchResults(text: string): Command[] {
  const navigate = useNavigate();
  const may = useMay();
  const mayStart = ['get /agentflow', 'post /execute_flow', 'post /execute_flow/{execution_id}/execute'].every(may);
  const runs = useQuery({
    queryKey: ['runs', 'named', text],
    queryFn: () =>
      call('get', '/{projectID}/execution_flows', { query: { limit: 8, fields: 'summary', ...textQuery(text) } }),
    enabled: may('get /{projectID}/execution_flows'),
  });
  const name = text.replace(/^(start|run)( a run of)? /i, '');
  const agentflows = useQuery({
    queryKey: ['agentflows', 'named', name],
    queryFn: () => call('get', '/agentflow', { query: { limit: 5, ...textQuery(name) } }),
    enabled: mayStart && name !== '',
  });
  return [
    ...(agentflows.data?.data ?? []).map((agentflow) => ({
      id: `start/${agentflow._id}`,
      name: `Start a run of ${agentflow.name}…`,
      kind: 'action',
      isFound: true,
      go: () =>
        void navigate({
          to: '/agentflows/$agentflowId',
          params: { agentflowId: agentflow._id },
          search: { ask: 'test' },
        }),
    })),
    ...(runs.data?.data ?? []).map((run) => ({
      id: `run/${run.execution_id}`,
      name: run.goal === '' ? run.agentflow.name : run.goal,
      kind: 'run',
      isFound: true,
      state: stateOf(run),
      go: () => void navigate({ to: '/runs/$runId', params: { runId: run.execution_id } }),
    })),
  ];
}

const textQuery = (text: string) => (text === '' ? {} : { text });

function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return debounced;
}
