import neo4j, { Neo4jError, type Driver, type ManagedTransaction, type Session, type SessionMode } from 'neo4j-driver';
import { AppError } from '../../base/errors.js';
import type { Graph } from '../../stores/neo4j.js';

export type Connection = Pick<
  Graph,
  'driver' | 'exact' | 'writer' | 'reads' | 'readsOfOrganizations' | 'writes' | 'bookmarks' | 'embeds'
>;

/** The number of records per fetch. It is small, because each record may be as large as a response. */
export const fetchSize = 20;

const writeTimeoutMs = 60_000;
const readTimeoutMs = 30_000;

/**
 * Runs one write transaction, which the driver retries on deadlocks and other temporary errors. The writes of a project
 * run one at a time.
 * @throws see {@link toAppError}; `quota_exceeded` if too many writes wait
 */
export async function inWriteTransaction<T>(
  graph: Connection,
  projectId: string,
  work: (tx: ManagedTransaction) => Promise<T>,
): Promise<T> {
  return (await writeOnce(graph, projectId, work)).result;
}

/** Like `inWriteTransaction`, but returns a bookmark of the write, for which another process can wait. */
export function writeOnce<T>(
  { writer, writes, bookmarks }: Connection,
  projectId: string,
  work: (tx: ManagedTransaction) => Promise<T>,
): Promise<{ result: T; bookmark: string | null }> {
  return writes.take(projectId, () =>
    withSession(
      openSession(writer, { defaultAccessMode: neo4j.session.WRITE, bookmarks: bookmarks?.of([projectId]) }),
      async (session) => {
        const result = await session
          .executeWrite(work, { timeout: writeTimeoutMs })
          .catch(forgetting(bookmarks, [projectId]));
        bookmarks?.note(projectId, session.lastBookmarks());
        return { result, bookmark: session.lastBookmarks()[0] ?? null };
      },
    ),
  );
}

/** Carries the result of a rehearsal out of its transaction, which the driver then rolls back. */
class Rehearsed extends Error {
  constructor(readonly result: unknown) {
    super('the rehearsal is over');
  }
}

/**
 * Runs a write transaction and rolls it back. Returns what the write would have done. Waits for its turn like a write.
 * @throws as {@link inWriteTransaction}
 */
export async function rehearseWrite<T>(
  graph: Connection,
  projectId: string,
  work: (tx: ManagedTransaction) => Promise<T>,
): Promise<T> {
  try {
    return await inWriteTransaction(graph, projectId, async (tx): Promise<never> => {
      throw new Rehearsed(await work(tx));
    });
  } catch (error) {
    if (error instanceof Rehearsed) return error.result as T;
    throw error;
  }
}

interface ReadOptions {
  timeoutMs?: number;
  fetchSize?: number;
  /**
   * The projects to read. The first one is the caller's and needs a slot. Reads include the last writes of all of them.
   */
  projectIds?: readonly string[];
  /** The organization of the caller. Without it, the project counts for itself. */
  organizationId?: string | undefined;
  /** The bookmark that the caller received from a save. */
  bookmark?: string | undefined;
  signal?: AbortSignal;
}

/** Runs one read transaction on a consistent state of the graph. The server also enforces read-only access. */
export function inReadTransaction<T>(
  graph: Connection,
  work: (tx: ManagedTransaction) => Promise<T>,
  options: ReadOptions = {},
): Promise<T> {
  const { timeoutMs = readTimeoutMs, projectIds: [first] = [], organizationId, signal } = options;
  const read = () =>
    withSession(readSession(graph, options), (session) =>
      session.executeRead(work, { timeout: timeoutMs }).catch(forgetting(graph.bookmarks, options.projectIds)),
    );
  return first === undefined ? read() : inTurnToRead(graph, { projectId: first, organizationId }, read, signal);
}

/** Runs a read when its project and its organization may run more. */
export function inTurnToRead<T>(
  { reads, readsOfOrganizations }: Connection,
  { projectId, organizationId = projectId }: { projectId: string; organizationId?: string | undefined },
  read: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  return reads.take(projectId, () => readsOfOrganizations.take(organizationId, read, { signal }), { signal });
}

export function readSession(
  { driver, exact, bookmarks }: Connection,
  { fetchSize: size, projectIds = [], bookmark }: ReadOptions,
  keepsIntegers = false,
): Session {
  const known = [...(bookmarks?.of(projectIds) ?? []), ...(bookmark === undefined ? [] : [bookmark])];
  return openSession(keepsIntegers ? exact : driver, {
    defaultAccessMode: neo4j.session.READ,
    ...(size === undefined ? {} : { fetchSize: size }),
    bookmarks: known,
  });
}

function openSession(
  driver: Pick<Driver, 'session'>,
  {
    bookmarks = [],
    ...config
  }: { defaultAccessMode: SessionMode; fetchSize?: number; bookmarks?: string[] | undefined },
): Session {
  return driver.session(bookmarks.length > 0 ? { ...config, bookmarks } : config);
}

/** Returns an error handler that forgets bookmarks which the database does not know, as after a restore. */
export function forgetting(bookmarks: Connection['bookmarks'], projectIds: readonly string[] = []) {
  return (error: unknown): never => {
    if (error instanceof Neo4jError && error.code.includes('Bookmark')) bookmarks?.forget(projectIds);
    throw error;
  };
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

/** What the errors of a statement mean, because the texts of the database can contain stored values. */
const statementErrors: Readonly<Record<string, string>> = {
  ArgumentError: 'a function does not accept the value of an argument, such as a text that is not a date',
  ArithmeticError: 'a calculation divides by zero, or a number is too large',
  SyntaxError:
    'the database does not accept an expression, such as a variable that is not defined or a text that is not a date',
  TypeError:
    'an operator or a function does not accept the type of a value: exclude such values with IS NOT NULL or IS :: STRING, or convert them, for example with toStringOrNull()',
};

/**
 * Maps a database error to an error for the caller. The original message may contain stored values and remains in the
 * cause.
 * - unreachable: `data_service_unreachable`
 * - timeout exceeded: `call_timed_out`, and the database has stopped the query
 * - invalid statement: `invalid_input`
 */
function toAppError(error: unknown): unknown {
  if (!(error instanceof Neo4jError)) return error;
  const { code } = error;
  if (
    /^(ServiceUnavailable|SessionExpired|N\/A)$|DatabaseUnavailable|ConnectionAcquisition|Security\.|General\.DatabaseUnavailable/.test(
      code,
    )
  ) {
    return new AppError('data_service_unreachable', 'the graph database does not answer', { cause: error });
  }
  if (/Transaction(TimedOut|Terminated)|LockClientStopped|LockAcquisitionTimeout/.test(code)) {
    return new AppError('call_timed_out', 'the query ran past its timeout and was stopped', { cause: error });
  }
  if (code.includes('Bookmark'))
    return new AppError('invalid_input', 'bookmark: is not known to the graph database', { cause: error });
  if (code.includes('MemoryPool') || code.includes('OutOfMemory')) {
    return new AppError('call_failed', 'the query needs more memory than one query may use', { cause: error });
  }
  if (code.startsWith('Neo.ClientError.Statement.')) {
    const kind = code.slice(code.lastIndexOf('.') + 1);
    const meaning = statementErrors[kind];
    const text = meaning === undefined ? kind : `${kind}, which means that ${meaning}`;
    return new AppError('invalid_input', `the query cannot be run: ${text}`, { cause: error });
  }
  return new AppError('call_failed', 'the graph database refused the call', { cause: error });
}
