import { LRUCache } from 'lru-cache';
import { Neo4jError, type Session } from 'neo4j-driver';
import type { GuardedQuery } from './guard.js';
import { refuse } from './refusal.js';
import { reservedPrefix } from './text-bounds.js';

interface PlanNode {
  operatorType: string;
  children: PlanNode[];
}

/** Operators that write, or that read data without a restricted pattern. */
const refusedOperators =
  /^(ProcedureCall|LoadCSV|Foreach|NodeCountFromCountStore|RelationshipCountFromCountStore|TransactionForeach|TransactionApply|Show\w*|Create\w*|Merge\w*|Delete\w*|DetachDelete\w*|Set\w+|Remove\w+)$/;

/**
 * Adds a second check: the first time that a query occurs, it requests the database's plan. It refuses a query that is
 * not read-only, or that does not compile and would otherwise fail during S8. Planning alone may take minutes, so it
 * has a time limit.
 */
export function createReadPlanCheck() {
  const verified = new LRUCache<string, true>({ maxSize: 4_000_000 });
  return {
    knows: ({ text }: Pick<GuardedQuery, 'text'>) => verified.get(text) === true,
    async ask(
      session: Session,
      { text }: Pick<GuardedQuery, 'text'>,
      parameters: Record<string, unknown>,
      timeout: number,
    ): Promise<void> {
      if (verified.get(text)) return;
      const { summary } = await session.run(`EXPLAIN ${text}`, parameters, { timeout }).catch((error: unknown) => {
        throw error instanceof Neo4jError && error.code.startsWith('Neo.ClientError.Statement.')
          ? refuse(problemOf(error.message))
          : error;
      });
      if (summary.queryType !== 'r' || !summary.plan || !readsOnly(summary.plan))
        throw refuse('The query may only read');
      verified.set(text, true, { size: text.length });
    },
  };
}

/**
 * Returns the message of the database, which is about the query text only, because the plan involves no data. Hides
 * messages that contain internal names.
 */
function problemOf(message: string): string {
  const [says = ''] = message.split(/ \(line \d|\n/);
  const problem = 'The database does not understand the query';
  return says === '' || says.includes(reservedPrefix) ? problem : `${problem}: ${says.slice(0, 300)}`;
}

function readsOnly(plan: PlanNode): boolean {
  return !refusedOperators.test(plan.operatorType.replace(/@.*/, '')) && plan.children.every(readsOnly);
}
