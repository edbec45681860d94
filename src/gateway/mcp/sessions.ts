import { randomUUID } from 'node:crypto';
import type { Response } from 'express';
import { AppError, isAppError } from '../../errors.js';
import { ownerOf, type Authenticate, type Caller, type Credentials } from './caller.js';
import { sessionNotFound } from './rpc-errors.js';

export interface SessionLimits {
  /** Of one caller; above it the one that was idle longest ends. */
  perCaller: number;
  total: number;
  idleMs: number;
}

/** An open session of either transport; `end` closes its server, which takes it from the registry. */
export interface Session<T> {
  id: string;
  owner: string;
  link: T;
  /** Those of the latest request. */
  credentials: Credentials;
  lastUsed: number;
  /** Requests that are being answered. */
  calls: number;
  /** Streams on which the server may speak unasked. */
  streams: Set<Response>;
  end(): Promise<void>;
}

/** Made for a session before it is known whether the client's first message is any good. */
export interface Linked<T> {
  link: T;
  end(): Promise<void>;
}

export interface Sessions<T> {
  /** @throws AppError `too_many_requests`, `unavailable` above the limits */
  open<L extends Linked<T>>(caller: Caller, make: (id: string, gone: () => void) => Promise<L>): Promise<Session<T> & L>;
  /** @throws AppError `not_found`, the same for an unknown id and for another caller's */
  use(id: string, caller: Caller): Session<T>;
  /** Ends what is idle, and the streams of credentials that are good no more. */
  sweep(): Promise<void>;
  close(): Promise<void>;
  size(): number;
}

export function createSessions<T>(limits: SessionLimits, authenticate: Authenticate): Sessions<T> {
  const sessions = new Map<string, Session<T>>();
  const byOwner = new Map<string, Set<Session<T>>>();

  const remove = (session: Session<T>) => {
    sessions.delete(session.id);
    const own = byOwner.get(session.owner);
    own?.delete(session);
    if (own?.size === 0) byOwner.delete(session.owner);
  };

  const makeRoom = async (owner: string) => {
    if (sessions.size >= limits.total) throw new AppError('unavailable', 'this process has no room for another session');
    const own = byOwner.get(owner);
    if (!own || own.size < limits.perCaller) return;
    const idle = [...own].filter(isIdle).sort((one, other) => one.lastUsed - other.lastUsed)[0];
    if (!idle) throw new AppError('too_many_requests', `a caller has at most ${limits.perCaller} sessions`);
    await idle.end();
  };

  return {
    async open(caller, make) {
      const owner = ownerOf(caller.principal);
      await makeRoom(owner);
      const id = randomUUID();
      const session = { id, owner, credentials: credentialsOnly(caller), lastUsed: Date.now(), calls: 0, streams: new Set<Response>() };
      const linked = await make(id, () => remove(opened));
      const opened = Object.assign(session, linked);
      sessions.set(id, opened);
      byOwner.set(owner, (byOwner.get(owner) ?? new Set()).add(opened));
      return opened;
    },
    use(id, caller) {
      const session = sessions.get(id);
      if (session?.owner !== ownerOf(caller.principal)) throw sessionNotFound();
      session.credentials = credentialsOnly(caller);
      session.lastUsed = Date.now();
      return session;
    },
    async sweep() {
      const goneAt = Date.now() - limits.idleMs;
      await Promise.all([...sessions.values()].filter((session) => isIdle(session) && session.lastUsed < goneAt).map((session) => session.end()));
      await endForbiddenStreams([...sessions.values()].filter(({ streams }) => streams.size > 0), authenticate);
    },
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.end()));
    },
    size: () => sessions.size,
  };
}

/** Counts a request as the session's for as long as its answer is open. */
export function during(session: Session<unknown>, res: Response, as: 'call' | 'stream'): void {
  if (as === 'stream') session.streams.add(res);
  else session.calls += 1;
  res.once('close', () => {
    if (as === 'stream') session.streams.delete(res);
    else session.calls -= 1;
    session.lastUsed = Date.now();
  });
}

function isIdle({ calls, streams }: Session<unknown>): boolean {
  return calls === 0 && streams.size === 0;
}

/** Not the caller itself, which would keep its whole principal and trace. */
function credentialsOnly({ authorization, workspace }: Caller): Credentials {
  return { authorization, workspace };
}

/** Sessions that share a credential share the check. A store that does not answer ends nothing. */
async function endForbiddenStreams(sessions: readonly Session<unknown>[], authenticate: Authenticate): Promise<void> {
  const checks = new Map<string, Promise<boolean>>();
  const endUnlessGood = async ({ credentials, owner, streams }: Session<unknown>) => {
    const key = JSON.stringify([credentials, owner]);
    const check = checks.get(key) ?? stillGood(credentials, owner, authenticate);
    checks.set(key, check);
    if (!(await check)) for (const stream of streams) stream.destroy();
  };
  await Promise.all(sessions.map(endUnlessGood));
}

async function stillGood(credentials: Credentials, owner: string, authenticate: Authenticate): Promise<boolean> {
  try {
    return ownerOf(await authenticate(credentials)) === owner;
  } catch (error) {
    return !(isAppError(error) && [401, 403].includes(error.status));
  }
}
