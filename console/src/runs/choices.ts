import { useQuery } from '@tanstack/react-query';
import { call } from '../api.js';
import type { Option } from '../field.js';
import { readAll } from '../read-all.js';
import { useMay } from '../session.js';
import { useMembers } from '../use-names.js';
import type { RunFilter } from './filter.js';

const staleTime = 60_000;

/** Loads the filter options that the person may read. */
export function useChoices({ agentflow: id = '' }: RunFilter) {
  return {
    flows: optionsOf(useAgentflows().data, ({ _id, name }) => ({ value: _id, name })),
    versions: optionsOf(useVersions(id).data, ({ version }) => ({ value: String(version), name: String(version) })),
    starters: optionsOf(useMembers(), ({ user_id, name, email }) => ({ value: user_id, name: name || email })),
    schedules: optionsOf(useSchedules(), ({ _id, goal }) => ({ value: _id, name: goal.template.slice(0, 80) })),
  };
}

export function useAgentflows() {
  const enabled = useMay()('get /agentflow');
  const queryFn = () => readAll((query) => call('get', '/agentflow', { query }));
  return useQuery({ queryKey: ['agentflows'], queryFn, enabled, staleTime });
}

export function useVersions(id: string) {
  const enabled = useMay()('get /agentflow/{id}/versions') && id !== '';
  const queryFn = () => readAll((query) => call('get', '/agentflow/{id}/versions', { params: { id }, query }));
  return useQuery({ queryKey: ['agentflow', id, 'versions'], queryFn, enabled, staleTime });
}

export function useSchedules() {
  const enabled = useMay()('get /schedule/coworker');
  const queryFn = () => readAll((query) => call('get', '/schedule/coworker', { query }));
  return useQuery({ queryKey: ['schedules', 'all'], queryFn, enabled, staleTime }).data;
}

const optionsOf = <T>(records: readonly T[] = [], optionOf: (record: T) => Option): readonly Option[] =>
  records.map(optionOf);

/** Returns a function that names an agentflow. It returns the id of a deleted one, and for roles that may not list them. */
export function useAgentflowNames(): (agentflowId: string) => string {
  const { data } = useAgentflows();
  return (agentflowId) => data?.find(({ _id }) => _id === agentflowId)?.name ?? agentflowId;
}
