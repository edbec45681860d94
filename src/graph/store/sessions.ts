import neo4j, { type ManagedTransaction, type Session } from 'neo4j-driver';
import { AppError, isAppError } from '../../errors.js';
import type { Graph } from '../../stores/neo4j.js';
import { isNeo4jError } from './neo4j-error.js';

export type Connection = Pick<Graph, 'driver'>;

/** Records of an answer that are under way at once: few, since each may be as large as the answer. */
export const fetchSize = 20;

const writeTimeoutMs = 60_000;
const readTimeoutMs = 30_000;

/** One write transaction, repeated by the driver on deadlocks and other passing faults. Errors: {@link toAppError}. */
export function inWriteTransaction<T>({ driver }: Connection, work: (tx: ManagedTransaction) => Promise<T>): Promise<T> {
  return withSession(driver.session({ defaultAccessMode: neo4j.session.WRITE }), (session) =>
    session.executeWrite(work, { timeout: writeTimeoutMs }),
  );
}

/** One read transaction that sees one state of the graph, read only to the server as well. */
export function inReadTransaction<T>(
  { driver }: Connection,
  work: (tx: ManagedTransaction) => Promise<T>,
  { timeoutMs = readTimeoutMs, ...options }: { timeoutMs?: number; fetchSize?: number } = {},
): Promise<T> {
  return withSession(driver.session({ defaultAccessMode: neo4j.session.READ, ...options }), (session) =>
    session.executeRead(work, { timeout: timeoutMs }),
  );
}

export async function withSession<T>(session: Session, work: (session: Session) => Promise<T>): Promise<T> {
  try {
    return await work(session);
  } catch (error) {
    throw toAppError(error);
  } finally {
    await session.close().catch(() => undefined);
  }
}

/**
 * What the database said, as the caller may know it; its own words may hold stored values and stay in the cause.
 * - not reachable: 502 `data_service_unreachable`
 * - past its timeout: 504 `S8:execute`
 * - the caller's statement at fault: 422 `S4:validate-input`
 */
export function toAppError(error: unknown): unknown {
  if (isAppError(error) || !isNeo4jError(error)) return error;
  const { code } = error;
  if (/^(ServiceUnavailable|SessionExpired|N\/A)$|DatabaseUnavailable|ConnectionAcquisition|Security\.|General\.DatabaseUnavailable/.test(code)) {
    return new AppError('data_service_unreachable', 'the graph database does not answer', { cause: error });
  }
  if (/Transaction(TimedOut|Terminated)|LockClientStopped|LockAcquisitionTimeout/.test(code)) {
    return new AppError('S8:execute', 'the query ran past its timeout and was stopped', { status: 504, cause: error });
  }
  if (code.includes('MemoryPool') || code.includes('OutOfMemory')) {
    return new AppError('S8:execute', 'the query needs more memory than one query may use', { cause: error });
  }
  if (code.startsWith('Neo.ClientError.Statement.')) {
    const kind = code.slice(code.lastIndexOf('.') + 1);
    return new AppError('S4:validate-input', `the query cannot be run: ${kind}`, { cause: error });
  }
  return new AppError('S8:execute', 'the graph database refused the call', { cause: error });
}
