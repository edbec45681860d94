import type { Session } from 'neo4j-driver';
import type { GuardedQuery } from './guard.js';
import { refuse } from './refusal.js';
import { TextCache } from './text-cache.js';

interface PlanNode {
  operatorType: string;
  children: PlanNode[];
}

/** Operators that reach data by another way than a bound pattern, or that write. */
const refusedOperators = /^(ProcedureCall|LoadCSV|Foreach|NodeCountFromCountStore|RelationshipCountFromCountStore|TransactionForeach|TransactionApply|Show\w*|Create\w*|Merge\w*|Delete\w*|DetachDelete\w*|Set\w+|Remove\w+)$/;

/**
 * A second lock: asks the database, at first sight of a text, how it read the query. Refuses what is no pure read and
 * what does not compile, which otherwise would be found in the middle of S8.
 */
export function createReadPlanCheck({ cacheSize = 4_000_000 }: { cacheSize?: number } = {}) {
  const assured = new TextCache<true>(cacheSize);
  return async function assertReadPlan(session: Session, query: GuardedQuery, parameters: Record<string, unknown>): Promise<void> {
    if (assured.get(query.text)) return;
    await explain(session, query, parameters);
    assured.set(query.text, true, query.text.length);
  };
}

async function explain(session: Session, query: GuardedQuery, parameters: Record<string, unknown>): Promise<void> {
  const { summary } = await session.run(`EXPLAIN ${query.text}`, parameters).catch((error: unknown) => {
    throw isClientError(error) ? refuse('The database does not understand the query') : error;
  });
  if (summary.queryType !== 'r' || !summary.plan || !readsOnly(summary.plan)) throw refuse('The query may only read');
}

function readsOnly(plan: PlanNode): boolean {
  return !refusedOperators.test(plan.operatorType.replace(/@.*/, '')) && plan.children.every(readsOnly);
}

function isClientError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Neo.ClientError.Statement.');
}
