import type { Requirement } from './requirement.js';

/** Guarantees when the record store is a replica set that fails over. */
export const store = [
  {
    id: 'store.first-connection',
    source: 'docs/guides/scale-out.md',
    says: 'A process that starts while the record store is down uses it once it answers.',
  },
  {
    id: 'store.concerns',
    source: 'docs/guides/scale-out.md',
    says: 'Every write waits, within a time limit, for a majority of the members; credentials, reservations, the audit chain and policies are read with majority concern.',
  },
  {
    id: 'store.failover.exact',
    source: 'docs/guides/scale-out.md',
    says: 'A write during a refusing primary, a broken connection, slow replication or a rollback succeeds or is answered 503; after a repeat, nothing acknowledged is lost and nothing is applied twice.',
  },
  {
    id: 'store.audit-chain.failover',
    source: 'docs/guides/scale-out.md',
    says: 'After a failover that undoes unacknowledged entries, the audit chain still verifies and accepts entries.',
  },
  {
    id: 'store.policies.failover',
    source: 'docs/guides/scale-out.md',
    says: 'A policy version that a failover undoes is never enforced.',
  },
  {
    id: 'store.idempotency.slow-first',
    source: 'docs/guides/scale-out.md',
    says: 'A repeat that overtakes a slow first request and is refused keeps its Idempotency-Key: nothing is created twice.',
  },
  {
    id: 'store.tables.pending-bounded',
    source: 'docs/guides/scale-out.md',
    says: 'However many large inserts into one table wait for the store, the table document stays below 16 MiB and every insert is applied once.',
  },
  {
    id: 'store.indexes.background',
    source: 'docs/guides/scale-out.md',
    says: 'A long index build does not delay readiness: GET /readyz answers ready and reports that indexes are being built.',
  },
  {
    id: 'store.indexes.complete',
    source: 'docs/guides/scale-out.md',
    says: 'An index serves every query of the list routes, the creations behind them, revocation, callbacks, crawls and sweeps.',
  },
  {
    id: 'store.reads.in-index',
    source: 'docs/guides/scale-out.md',
    says: 'Among 5,000 documents of others, a read of events, executions, lifecycles or approvals looks at 100 at most that it does not return.',
  },
  {
    id: 'lists.counted-to-10000',
    source: 'docs/specification.md#conventions',
    says: 'A list is counted up to 10,000; beyond that `total_is_lower_bound` is true, in the API and in the console.',
  },
  {
    id: 'lists.newest-first',
    source: 'docs/specification.md#conventions',
    says: 'Every list route returns the newest first; the marketplace sorts by first publication and the inbox by when an item began to wait.',
  },
] as const satisfies readonly Requirement[];
