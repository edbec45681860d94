import { useQuery } from '@tanstack/react-query';
import { call } from '../api.js';
import type { Option } from '../field.js';
import { useMay } from '../session.js';
import { useMembers } from '../use-names.js';
import type { RunFilter } from './filter.js';

const query = { limit: 200 };
const staleTime = 60_000;

/** Loads the filter options that the person may read. */
export function useChoices({ agentflow: id = '' }: RunFilter) {
  const may = useMay();
  const flows = useQuery({
    queryKey: ['agentflows'],
    queryFn: () => call('get', '/agentflow', { query }),
    enabled: may('get /agentflow'),
    staleTime,
  });
  const versions = useQuery({
    queryKey: ['agentflow', id, 'versions'],
    queryFn: () => call('get', '/agentflow/{id}/versions', { params: { id }, query }),
    enabled: id !== '' && may('get /agentflow/{id}/versions'),
    staleTime,
  });
  return {
    flows: optionsOf(flows.data, ({ _id, name }) => ({ value: _id, name })),
    versions: optionsOf(versions.data, ({ version }) => ({ value: String(version), name: String(version) })),
    starters: optionsOf(useMembers(), ({ user_id, name, email }) => ({ value: user_id, name: name || email })),
    schedules: optionsOf(useSchedules(), ({ _id, goal }) => ({ value: _id, name: goal.template.slice(0, 80) })),
  };
}

/** Loads the newest schedules. */
export function useSchedules() {
  const may = useMay();
  const { data } = useQuery({
    queryKey: ['schedules', 'newest'],
    queryFn: () => call('get', '/schedule/coworker', { query }),
    enabled: may('get /schedule/coworker'),
    staleTime,
  });
  return data;
}

function optionsOf<T>(page: { data: T[] } | undefined, optionOf: (record: T) => Option): readonly Option[] {
  return page?.data.map(optionOf) ?? [];
}
