import type { Session } from 'neo4j-driver';
import { AppError, isAppError } from '../../base/errors.js';
import { largestGraph } from '../guard/graph-sizes.js';
import { parametersFor, type GuardedQuery } from '../guard/guard.js';
import { createReadPlanCheck } from '../guard/read-plan.js';
import { refuse } from '../guard/refusal.js';
import { weighCall } from '../guard/work.js';
import type { Consumption } from '../store/provenance.js';
import { fetchSize, forgetting, inTurnToRead, readSession, withSession, type Connection } from '../store/sessions.js';
import { toParameter } from '../store/values.js';
import { createTimedGuard, timeParameter } from './as-of.js';
import { createCollector } from './collect.js';
import { measure } from './measure.js';
import type { ContextAnswer } from './views.js';

export interface CypherCall {
  query: GuardedQuery;
  params: Record<string, unknown>;
  projectId: string;
  organizationId: string;
  grantedProjectIds: readonly string[];
  /** A point in time in epoch seconds. */
  asOf: number;
  limit: number;
  timeoutMs: number;
  /** The bookmark of a save whose result the query must include. */
  bookmark?: string | undefined;
  signal: AbortSignal;
}

export function createCypherQueries(graph: Connection) {
  const assertReadPlan = createReadPlanCheck();
  /**
   * Runs the work in a session. The project keeps its slot until the database has finished, even if the caller already
   * has a response.
   */
  const inSession = <T>(call: CypherCall, work: (session: Session) => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const running = async () => {
        const session = readSession(
          graph,
          { fetchSize, projectIds: call.grantedProjectIds, bookmark: call.bookmark },
          true,
        );
        const deadline = answerWhenLate(session, call, reject);
        const done = withSession(session, () =>
          work(session).catch(forgetting(graph.bookmarks, call.grantedProjectIds)),
        ).then(resolve, reject);
        await Promise.race([done, deadline.databaseIsDone]);
        deadline.clear();
      };
      inTurnToRead(graph, call, running, call.signal).catch(reject);
    });
  return {
    /**
     * Restricts the caller's query to the project and the time.
     * @throws AppError `invalid_input`
     */
    guard: createTimedGuard(),
    /** Refuses a query that the database does not plan as read-only within the timeout. A known query costs nothing. */
    async check(call: CypherCall): Promise<void> {
      const parameters = parametersOf(call);
      await checkWork(graph, call);
      if (assertReadPlan.knows(call.query)) return;
      await inSession(call, (session) => assertReadPlan.ask(session, call.query, parameters, call.timeoutMs));
    },
    /** Runs a READ transaction that the database ends at the timeout. Reads one row more than the limit. */
    async run(call: CypherCall, consumed: Consumption): Promise<ContextAnswer> {
      const parameters = parametersOf(call);
      await checkWork(graph, call);
      return inSession(call, async (session) => {
        await assertReadPlan.ask(session, call.query, parameters, call.timeoutMs);
        return collectRows(session, call, parameters, consumed);
      });
    },
  };
}

export type CypherQueries = ReturnType<typeof createCypherQueries>;

function parametersOf({ query, projectId, grantedProjectIds, params, asOf }: CypherCall): Record<string, unknown> {
  const callerParameters = toParameter(params) as Record<string, unknown>;
  const parameters = {
    ...parametersFor(query, { projectId, grantedProjectIds }, callerParameters),
    [timeParameter]: asOf,
  };
  const missing = [...query.parameters].filter((name) => !Object.hasOwn(parameters, name));
  if (missing.length > 0) throw refuse(`The query needs a parameter that params does not give: ${missing.join(', ')}`);
  return parameters;
}

/**
 * Refuses a query that may take too much work. What would be too much for the largest possible graph may still be
 * little for this one.
 * @throws AppError `invalid_input`
 */
async function checkWork(graph: Connection, call: CypherCall): Promise<void> {
  try {
    weighCall(call.query.tree, call.params, largestGraph);
  } catch (error) {
    if (!isAppError(error)) throw error;
    const sizes = await measure(graph, call);
    if (!sizes) throw error;
    weighCall(call.query.tree, call.params, sizes);
  }
}

async function collectRows(
  session: Session,
  call: CypherCall,
  parameters: Record<string, unknown>,
  consumed: Consumption,
): Promise<ContextAnswer> {
  const collector = createCollector(call.limit, consumed);
  let count = 0;
  for await (const row of session.run(call.query.text, parameters, { timeout: call.timeoutMs })) {
    count += 1;
    if (count > call.limit || !collector.add(row)) return collector.answer(true);
  }
  return collector.answer(false);
}

/** The database stops a query soon after its timeout. The caller gets a response at most this time later. */
const stopGraceMs = 15_000;
/** After this time, a connection that does not respond is abandoned. */
const abandonAfterMs = 300_000;

/** Closes the session, which ends its transaction, if the caller disconnects or the database does not stop in time. */
function answerWhenLate(session: Session, { timeoutMs, signal }: CypherCall, reject: (error: AppError) => void) {
  let isDone: () => void = () => undefined;
  const databaseIsDone = new Promise<void>((resolve) => (isDone = resolve));
  const end = (error: AppError) => {
    reject(error);
    const abandoned = setTimeout(isDone, abandonAfterMs).unref();
    void session
      .close()
      .catch(() => undefined)
      .then(() => {
        clearTimeout(abandoned);
        isDone();
      });
  };
  const late = setTimeout(
    () =>
      end(
        new AppError(
          'call_timed_out',
          'the query ran past its timeout; the database has not yet confirmed that it stopped the query',
        ),
      ),
    timeoutMs + stopGraceMs,
  );
  const endForDisconnect = () => end(new AppError('call_timed_out', 'the caller disconnected'));
  if (signal.aborted) endForDisconnect();
  signal.addEventListener('abort', endForDisconnect, { once: true });
  return {
    databaseIsDone,
    clear() {
      clearTimeout(late);
      signal.removeEventListener('abort', endForDisconnect);
    },
  };
}
