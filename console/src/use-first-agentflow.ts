import { useQuery } from '@tanstack/react-query';
import { call } from './api.js';

/** Returns the id of an agentflow for an example command, or a placeholder. */
export function useFirstAgentflow(enabled: boolean): string {
  const { data } = useQuery({
    queryKey: ['first-agentflow'],
    queryFn: () => call('get', '/agentflow', { query: { limit: 1 } }),
    enabled,
  });
  return data?.data[0]?._id ?? '<agentflow id>';
}
