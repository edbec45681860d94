import neo4j, { type Session } from 'neo4j-driver';
import { AppError } from '../../errors.js';
import { parametersFor, type GuardedQuery } from '../guard/guard.js';
import { createReadPlanCheck } from '../guard/read-plan.js';
import { refuse } from '../guard/refusal.js';
import type { Consumption } from '../store/provenance.js';
import { fetchSize, withSession, type Connection } from '../store/sessions.js';
import { toParameter } from '../store/values.js';
import { createTimedGuard, timeParameter } from './as-of.js';
import { createCollector } from './collect.js';
import type { ContextAnswer } from './views.js';

export interface CypherCall {
  query: GuardedQuery;
  params: Record<string, unknown>;
  projectId: string;
  grantedProjectIds: readonly string[];
  /** Epoch seconds. */
  asOf: number;
  limit: number;
  timeoutMs: number;
  signal: AbortSignal;
}

export interface CypherQueries {
  /** Binds the caller's text to project and time; throws AppError 422 `S4:validate-input`. */
  guard(text: string): GuardedQuery;
  /** Refuses what the database does not read as a pure read, within the timeout; free for a text that was seen before. */
  check(call: CypherCall): Promise<void>;
  /** Runs in a READ transaction that the database ends at the timeout; takes one row more than the limit. */
  run(call: CypherCall, consumed: Consumption): Promise<ContextAnswer>;
}

export function createCypherQueries(graph: Connection): CypherQueries {
  const assertReadPlan = createReadPlanCheck();
  const open = () => graph.driver.session({ defaultAccessMode: neo4j.session.READ, fetchSize });
  return {
    guard: createTimedGuard(),
    check(call) {
      const session = open();
      const work = () => assertReadPlan(session, call.query, parametersOf(call), call.timeoutMs);
      return withSession(session, () => withDeadline(session, call, work));
    },
    run(call, consumed) {
      const session = open();
      const work = async () => {
        const parameters = parametersOf(call);
        await assertReadPlan(session, call.query, parameters, call.timeoutMs);
        return collectRows(session, call, parameters, consumed);
      };
      return withSession(session, () => withDeadline(session, call, work));
    },
  };
}

function parametersOf({ query, projectId, grantedProjectIds, params, asOf }: CypherCall): Record<string, unknown> {
  const given = toParameter(params) as Record<string, unknown>;
  const parameters = { ...parametersFor(query, { projectId, grantedProjectIds }, given), [timeParameter]: asOf };
  const missing = [...query.parameters].filter((name) => !Object.hasOwn(parameters, name));
  if (missing.length > 0) throw refuse(`The query needs a parameter that params does not give: ${missing.join(', ')}`);
  return parameters;
}

async function collectRows(session: Session, call: CypherCall, parameters: Record<string, unknown>, consumed: Consumption): Promise<ContextAnswer> {
  const collector = createCollector(call.limit, consumed);
  let count = 0;
  for await (const row of session.run(call.query.text, parameters, { timeout: call.timeoutMs })) {
    count += 1;
    if (count > call.limit || !collector.add(row)) return collector.answer(true);
  }
  return collector.answer(false);
}

/** The database checks its clock now and then only; past the timeout by this much we stop waiting for it. */
const graceMs = 1500;

async function withDeadline<T>(session: Session, { timeoutMs, signal }: CypherCall, work: () => Promise<T>): Promise<T> {
  let stop: (error: AppError) => void = () => undefined;
  const stopped = new Promise<never>((_resolve, reject) => (stop = reject));
  const late = setTimeout(() => stop(new AppError('S8:execute', 'the query ran past its timeout and was stopped', { status: 504 })), timeoutMs + graceMs);
  const gone = () => stop(new AppError('S8:execute', 'the caller is gone', { status: 504 }));
  if (signal.aborted) gone();
  signal.addEventListener('abort', gone, { once: true });
  try {
    return await Promise.race([work(), stopped]);
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', gone);
    await Promise.race([session.close().catch(() => undefined), new Promise((resolve) => setTimeout(resolve, graceMs).unref())]);
  }
}
