import { useQuery } from '@tanstack/react-query';
import { call } from './api.js';
import { readAll } from './read-all.js';
import { useMay } from './session.js';

/** Loads the members of the project; undefined for roles that may not list them. */
export function useMembers() {
  const may = useMay();
  const { data } = useQuery({
    queryKey: ['members', 'names'],
    queryFn: () => readAll((query) => call('get', '/project-member/{projectID}', { query })),
    enabled: may('get /project-member/{projectID}'),
    staleTime: 60_000,
  });
  return data;
}

/**
 * Returns a function that names a member of the project. It returns the id of anybody else, and for roles that may not
 * list members.
 */
export function useNames(): (userId: string) => string {
  const data = useMembers();
  return (userId) => {
    const found = data?.find(({ user_id }) => user_id === userId);
    return found ? `${found.name} (${found.email})` : userId;
  };
}

/** Returns a function that names a project of the organization. It returns the id of a project that the person does not see. */
export function useProjectNames(): (projectId: string) => string {
  const may = useMay();
  const { data } = useQuery({
    queryKey: ['projects', 'names'],
    queryFn: () => readAll((query) => call('get', '/v1/project', { query })),
    enabled: may('get /v1/project'),
    staleTime: 60_000,
  });
  return (id) => data?.find(({ _id }) => _id === id)?.name ?? id;
}
