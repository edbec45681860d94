import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { capitalized, type Execution } from '../api.js';
import { useMay } from '../session.js';
import { actionsOf, type State } from '../states.js';

export interface Command {
  id: string;
  name: string;
  kind: string;
  state?: State;
  /** Whether the API found it, so its name does not have to contain the typed text. */
  isFound?: boolean;
  go(): void;
}

const forms = [
  { name: 'New agentflow…', path: 'agentflows/new', operation: 'post /agentflow' },
  { name: 'New schedule…', path: 'schedules/new', operation: 'post /schedule/coworker' },
  { name: 'New table…', path: 'tables', ask: 'create', operation: 'post /storage/{projectID}/table' },
  { name: 'Add member…', path: 'members', ask: 'add', operation: 'post /project-member/{projectID}' },
] as const;

/** Returns the actions that this person may perform on the current page. Each opens the form or dialog of the page. */
export function useActions(): Command[] {
  const navigate = useNavigate();
  const may = useMay();
  const { runId } = useParams({ strict: false });
  const run = useQueryClient().getQueryData<Execution>(['run', runId]);
  return [
    ...(run ? actionsOf(run, may) : []).map((action) => ({
      id: `run-action/${action}`,
      name: `${capitalized(action)} this run…`,
      kind: 'action',
      go: () =>
        void navigate({ to: '/runs/$runId', params: { runId: run?.execution_id ?? '' }, search: { ask: action } }),
    })),
    ...forms
      .filter(({ operation }) => may(operation))
      .map(({ name, path, ...form }) => ({
        id: `form/${path}`,
        name,
        kind: 'action',
        go: () =>
          void navigate({
            // Each path is a route without other parameters.
            to: `/${path}` as '/tables',
            search: 'ask' in form ? { ask: form.ask } : {},
          }),
      })),
  ];
}
