import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../api.js';
import { pollInterval } from '../news.js';
import { Loaded, Page, StateLine } from '../parts.js';
import { Card } from './card.js';
import { itemOf } from './subject.js';

/** One approval, which may have been decided. */
export function ApprovalDetails({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ['approval', id],
    queryFn: () => call('get', '/v1/approvals/{id}', { params: { id } }),
    refetchInterval: ({ state }) =>
      /^(pending|approved)$/.test(state.data?.status ?? '') ? pollInterval({ state }) : false,
  });
  return (
    <Page title={query.data ? query.data.summary : 'Approval'}>
      <p>
        <Link to="/inbox" search={{ show: 'approvals' }}>
          All approvals
        </Link>
      </p>
      <Loaded query={query}>
        {(approval) => (
          <>
            <StateLine state={approval.status} />
            <Card subject={{ item: itemOf(approval), approval }} onDone={() => query.refetch()} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
