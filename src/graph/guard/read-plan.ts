import type { Session } from 'neo4j-driver';
import { isNeo4jError } from '../store/neo4j-error.js';
import type { GuardedQuery } from './guard.js';
import { refuse } from './refusal.js';
import { reservedPrefix } from './text-bounds.js';
import { TextCache } from './text-cache.js';

interface PlanNode {
  operatorType: string;
  children: PlanNode[];
}

/** Operators that reach data by another way than a bound pattern, or that write. */
const refusedOperators = /^(ProcedureCall|LoadCSV|Foreach|NodeCountFromCountStore|RelationshipCountFromCountStore|TransactionForeach|TransactionApply|Show\w*|Create\w*|Merge\w*|Delete\w*|DetachDelete\w*|Set\w+|Remove\w+)$/;

/**
 * A second lock: asks the database, at first sight of a text, how it read the query. Refuses what is no pure read and
 * what does not compile, which otherwise would be found in the middle of S8. Planning alone may take minutes, so it has a time limit.
 */
export function createReadPlanCheck({ cacheSize = 4_000_000 }: { cacheSize?: number } = {}) {
  const assured = new TextCache<true>(cacheSize);
  return async function assertReadPlan(session: Session, query: GuardedQuery, parameters: Record<string, unknown>, timeoutMs: number): Promise<void> {
    if (assured.get(query.text)) return;
    await explain(session, query, parameters, timeoutMs);
    assured.set(query.text, true, query.text.length);
  };
}

async function explain(session: Session, query: GuardedQuery, parameters: Record<string, unknown>, timeout: number): Promise<void> {
  const { summary } = await session.run(`EXPLAIN ${query.text}`, parameters, { timeout }).catch((error: unknown) => {
    throw isNeo4jError(error) && error.code.startsWith('Neo.ClientError.Statement.') ? refuse(problemOf(error.message)) : error;
  });
  if (summary.queryType !== 'r' || !summary.plan || !readsOnly(summary.plan)) throw refuse('The query may only read');
}

/** No data was met, so what the database says is about the text alone; where that is about names of ours it says nothing to the caller. */
function problemOf(message: string): string {
  const [says = ''] = message.split(/ \(line \d|\n/);
  const problem = 'The database does not understand the query';
  return says === '' || says.includes(reservedPrefix) ? problem : `${problem}: ${says.slice(0, 300)}`;
}

function readsOnly(plan: PlanNode): boolean {
  return !refusedOperators.test(plan.operatorType.replace(/@.*/, '')) && plan.children.every(readsOnly);
}
