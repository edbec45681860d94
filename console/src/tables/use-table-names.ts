import { useQuery } from '@tanstack/react-query';
import { call } from '../api.js';
import { readAll } from '../read-all.js';

const readTableNames = () =>
  readAll(async (query) => {
    const { table_names: data, ...page } = await call('get', '/storage/{projectID}/table_names', { query });
    return { ...page, data };
  });

/** The names of all tables of the project, to choose one. */
export function useTableNames() {
  return useQuery({ queryKey: ['table-names'], queryFn: readTableNames });
}
