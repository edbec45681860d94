import { randomUUID } from 'node:crypto';
import type { Response } from 'express';
import { AppError } from '../../base/errors.js';
import { ownerOf, type Caller, type CheckedCredentials } from './caller.js';
import { sessionNotFound } from './rpc-errors.js';

interface SessionLimits {
  /** The maximum sessions per caller. Above it, the session that has been idle longest ends. */
  perCaller: number;
  /** The maximum sessions per organization in this process. */
  perOrganization: number;
  total: number;
  idleMs: number;
}

/** An open session of either transport. */
export interface Session<T> {
  id: string;
  owner: string;
  link: T;
  /** The caller of the latest request. */
  caller: CheckedCredentials;
  lastUsed: number;
  /** The number of requests in progress. */
  calls: number;
  /** The streams on which the server can send notifications. */
  streams: Set<Response>;
  /** Closes the server and removes the session from the registry. */
  end(): Promise<void>;
}

/** The server and transport of a new session, which exist before the client's first message has been validated. */
interface SessionLink<T> {
  link: T;
  end(): Promise<void>;
}

/** A session whose transport does not exist yet. */
export type UnlinkedSession = Omit<Session<unknown>, 'link' | 'end'>;

export type McpSessions<T> = ReturnType<typeof createMcpSessions<T>>;

export function createMcpSessions<T>(limits: SessionLimits) {
  const sessions = new Map<string, Session<T>>();
  const byOwner = new Map<string, Set<Session<T>>>();

  const remove = (session: Session<T>) => {
    sessions.delete(session.id);
    const ownersSessions = byOwner.get(session.owner);
    ownersSessions?.delete(session);
    if (ownersSessions?.size === 0) byOwner.delete(session.owner);
  };

  const makeRoom = async (owner: string, organizationId: string) => {
    const ofOrganization = [...sessions.values()].filter(
      ({ caller }) => caller.principal.organizationId === organizationId,
    ).length;
    if (ofOrganization >= limits.perOrganization) throw tooMany('organization', limits.perOrganization);
    if (sessions.size >= limits.total)
      throw new AppError('unavailable', 'this process has reached its limit of sessions');
    const ownersSessions = byOwner.get(owner);
    if (!ownersSessions || ownersSessions.size < limits.perCaller) return;
    const idle = [...ownersSessions].filter(isIdle).sort((one, other) => one.lastUsed - other.lastUsed)[0];
    if (!idle) throw tooMany('caller', limits.perCaller);
    await idle.end();
  };

  return {
    /**
     * Opens a session.
     * @throws AppError `too_many_requests`, `unavailable` above the limits
     */
    async open<L extends SessionLink<T>>(
      caller: Caller,
      make: (session: UnlinkedSession, onClosed: () => void) => Promise<L>,
    ): Promise<Session<T> & L> {
      const owner = ownerOf(caller.principal);
      await makeRoom(owner, caller.principal.organizationId);
      const session: UnlinkedSession = {
        id: randomUUID(),
        owner,
        caller: withoutTrace(caller),
        lastUsed: Date.now(),
        calls: 0,
        streams: new Set<Response>(),
      };
      const linked = await make(session, () => remove(opened));
      const opened = Object.assign(session, linked);
      sessions.set(session.id, opened);
      byOwner.set(owner, (byOwner.get(owner) ?? new Set()).add(opened));
      return opened;
    },
    /**
     * Returns an open session.
     * @throws AppError `not_found` both for an unknown id and for a session of another caller
     */
    use(id: string, caller: Caller): Session<T> {
      const session = sessions.get(id);
      if (session?.owner !== ownerOf(caller.principal)) throw sessionNotFound();
      session.caller = withoutTrace(caller);
      session.lastUsed = Date.now();
      return session;
    },
    /** Ends idle sessions. */
    async sweep(): Promise<void> {
      const goneAt = Date.now() - limits.idleMs;
      await Promise.all(
        [...sessions.values()]
          .filter((session) => isIdle(session) && session.lastUsed < goneAt)
          .map((session) => session.end()),
      );
    },
    async close(): Promise<void> {
      await Promise.all([...sessions.values()].map((session) => session.end()));
    },
    size: () => sessions.size,
  };
}

/** Counts a request as active in the session until its response closes. */
export function countUntilClosed(session: Session<unknown>, res: Response, as: 'call' | 'stream'): void {
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

function tooMany(whose: 'caller' | 'organization', limit: number): AppError {
  return new AppError(
    'too_many_requests',
    `one ${whose} can have at most ${limit} MCP sessions open at a time; end one with DELETE, or wait until one is idle`,
  );
}

function withoutTrace({ authorization, workspace, principal }: Caller): CheckedCredentials {
  return { authorization, workspace, principal };
}
