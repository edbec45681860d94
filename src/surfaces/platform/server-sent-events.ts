import { abortWith } from '../../base/async.js';
import type { Deps } from '../../domain/deps.js';
import { AppError, isRefusal } from '../../base/errors.js';
import type { RequestContext } from '../rest/context.js';

const keepAliveMs = 15_000;
/** How often a stream checks whether its credential was revoked. */
export const recheckMs = 2000;
/** A client with more unread bytes is disconnected and can resume. */
const maxUnreadBytes = 4 * 1024 * 1024;

/**
 * Starts a response of server-sent events (WHATWG HTML, 9.2). Returns undefined if the client has already disconnected.
 * @throws AppError `too_many_requests` if the organization has too many open streams
 */
export function sendEvents(
  deps: Deps,
  { principal, res, recheck }: Pick<RequestContext, 'principal' | 'res' | 'recheck'>,
) {
  const closed = deps.streams.open(principal.organizationId);
  res.once('close', closed);
  if (res.destroyed) {
    closed();
    return undefined;
  }
  res.status(200).set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  res.flushHeaders();
  const ended = abortWith(deps.stopping.signal);
  res.once('close', () => ended.abort());
  let wroteAt = Date.now();
  let checkedAt = Date.now();
  const write = (text: string) => {
    res.write(text);
    wroteAt = Date.now();
    if (res.writableLength > maxUnreadBytes) res.destroy();
  };
  return {
    write,
    /** Aborts when the client has disconnected or the process stops. */
    ended: ended.signal,
    /** Keeps the connection alive. @returns false after the credential was revoked */
    async mayGoOn(): Promise<boolean> {
      if (Date.now() - wroteAt > keepAliveMs) write(': keep-alive\n\n');
      if (Date.now() - checkedAt <= recheckMs) return true;
      const isRefused = await wasRefused(recheck);
      checkedAt = Date.now();
      return !isRefused;
    },
  };
}

/** Returns whether the credential was revoked. A failure of the store does not end the stream. */
async function wasRefused(recheck: () => Promise<void>): Promise<boolean> {
  try {
    await recheck();
    return false;
  } catch (error) {
    return isRefusal(error);
  }
}

interface SentEvent {
  seq: number;
  type: string;
}

const frames = new WeakMap<SentEvent, string>();

/** Returns the text of an event, which is the same for all viewers. */
export function frameOf(event: SentEvent): string {
  const frame = frames.get(event) ?? `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  frames.set(event, frame);
  return frame;
}

/** @throws AppError `invalid_request` if it is not an event id */
export function lastEventId(value: string | undefined): number | undefined {
  if (value === undefined || value === '') return undefined;
  if (!/^\d{1,15}$/.test(value))
    throw new AppError('invalid_request', 'Last-Event-ID: must be an event id of this stream');
  return Number(value);
}
