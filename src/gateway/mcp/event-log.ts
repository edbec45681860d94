import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

export interface EventLogLimits {
  /** Of one session. */
  sessionBytes: number;
  /** Of all sessions together. */
  totalBytes: number;
  ageMs: number;
}

/** The messages that were sent lately, so that a client whose stream broke gets what it missed. */
export interface EventLog {
  /** A session's own part; another session's ids are unknown to it. */
  forSession(): SessionEvents;
  /** Forgets what is too old. */
  sweep(): void;
  size(): number;
}

export interface SessionEvents extends EventStore {
  /** What was sent after that event, where the response is among it, which ends the stream; else undefined. */
  missedToTheEnd(lastEventId: string): MissedEvent[] | undefined;
  /** A stream may now have several responses (2025-03-26), so that no single one is known to end it. */
  expectBatches(): void;
  close(): void;
}

export interface MissedEvent {
  id: string;
  message: JSONRPCMessage;
}

interface Event {
  streamId: string;
  message: JSONRPCMessage;
  bytes: number;
  at: number;
  forget(): void;
}

interface Shared {
  limits: EventLogLimits;
  /** Ids grow over all sessions, so the oldest is the first: that is what goes when there is too much. */
  events: Map<number, Event>;
  lastId: number;
  bytes: number;
  now(): number;
}

export function createEventLog(limits: EventLogLimits, now: () => number = Date.now): EventLog {
  const shared: Shared = { limits, events: new Map(), lastId: 0, bytes: 0, now };
  return { forSession: () => sessionEvents(shared), sweep: () => forgetOldest(shared), size: () => shared.events.size };
}

function forgetOldest({ events, bytes, limits, now }: Shared): void {
  let left = bytes;
  for (const event of events.values()) {
    if (left <= limits.totalBytes && now() - event.at <= limits.ageMs) return;
    left -= event.bytes;
    event.forget();
  }
}

function sessionEvents(shared: Shared): SessionEvents {
  const own = new Map<number, Event>();
  let closed = false;
  let batches = false;
  const endsStream = (message: JSONRPCMessage) => !batches && ('result' in message || 'error' in message);
  // A priming event is an empty message: it is an id to resume from, nothing to send.
  const after = (lastId: number): MissedEvent[] =>
    [...own]
      .filter(([id, { streamId, message }]) => id > lastId && streamId === own.get(lastId)?.streamId && 'jsonrpc' in message)
      .map(([id, { message }]) => ({ id: String(id), message }));
  return {
    storeEvent: async (streamId, message) => (closed ? '0' : add(shared, own, streamId, message)),
    // Undefined, which is a 400, where something after it may be lost, and after a response, which nothing follows.
    async getStreamIdForEventId(eventId) {
      const event = own.get(Number(eventId));
      return event && !endsStream(event.message) ? event.streamId : undefined;
    },
    async replayEventsAfter(lastEventId, { send }) {
      for (const { id, message } of after(Number(lastEventId))) await send(id, message);
      return own.get(Number(lastEventId))?.streamId ?? '';
    },
    missedToTheEnd(lastEventId) {
      const missed = after(Number(lastEventId));
      return missed.some(({ message }) => endsStream(message)) ? missed : undefined;
    },
    expectBatches: () => void (batches = true),
    close() {
      closed = true;
      for (const event of own.values()) event.forget();
    },
  };
}

function add(shared: Shared, own: Map<number, Event>, streamId: string, message: JSONRPCMessage): string {
  const id = (shared.lastId += 1);
  const bytes = JSON.stringify(message).length;
  const forget = () => {
    shared.events.delete(id);
    own.delete(id);
    shared.bytes -= bytes;
  };
  const event = { streamId, message, bytes, at: shared.now(), forget };
  shared.events.set(id, event);
  own.set(id, event);
  shared.bytes += bytes;
  let ownBytes = [...own.values()].reduce((sum, { bytes: each }) => sum + each, 0);
  for (const oldest of own.values()) {
    if (ownBytes <= shared.limits.sessionBytes) break;
    ownBytes -= oldest.bytes;
    oldest.forget();
  }
  forgetOldest(shared);
  return String(id);
}
