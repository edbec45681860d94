import { useQuery } from '@tanstack/react-query';
import { call } from '../api.js';
import { readAll } from '../read-all.js';
import { useMay } from '../session.js';

/** The connectors of the project; undefined for a person who may not see them, and while they load. */
export function useConnectors() {
  const mayRead = useMay()('get /connectors/{projectID}');
  const { data } = useQuery({
    queryKey: ['connectors', 'all'],
    queryFn: () => readAll((query) => call('get', '/connectors/{projectID}', { query })),
    enabled: mayRead,
    staleTime: 60_000,
  });
  return { mayRead, connectors: data };
}
