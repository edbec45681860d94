import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

interface EventLogLimits {
  /** The maximum bytes per session. */
  sessionBytes: number;
  /** The maximum bytes of all sessions together. */
  totalBytes: number;
  ageMs: number;
}

export type EventLog = ReturnType<typeof createEventLog>;
export type SessionEvents = ReturnType<typeof sessionEvents>;

export interface MissedEvent {
  id: string;
  message: JSONRPCMessage;
}

interface Event {
  streamId: string;
  message: JSONRPCMessage;
  at: number;
  forget(): void;
}

/** Ids increase across all sessions, so the first entry is the oldest. It is removed first when the log is full. */
interface SessionLog {
  events: Map<number, Event>;
  bytes: number;
}

interface Shared extends SessionLog {
  limits: EventLogLimits;
  lastId: number;
  now(): number;
}

/** Keeps recently sent messages, so that a client whose stream broke can fetch the missed ones. */
export function createEventLog(limits: EventLogLimits, now: () => number = Date.now) {
  const shared: Shared = { limits, events: new Map(), lastId: 0, bytes: 0, now };
  return {
    /** Creates the log of one session. It does not know the event ids of other sessions. */
    forSession: () => sessionEvents(shared),
    /** Removes expired messages. */
    sweep: () => forgetOldest(shared),
    size: () => shared.events.size,
  };
}

function forgetOldest(shared: Shared): void {
  const { events, limits, now } = shared;
  for (const event of events.values()) {
    if (shared.bytes <= limits.totalBytes && now() - event.at <= limits.ageMs) return;
    event.forget();
  }
}

function sessionEvents(shared: Shared) {
  const session: SessionLog = { events: new Map(), bytes: 0 };
  let closed = false;
  let batches = false;
  const endsStream = (message: JSONRPCMessage) => !batches && ('result' in message || 'error' in message);
  // A priming event is an empty message. It only provides an id to resume from.
  const after = (lastId: number): MissedEvent[] =>
    [...session.events]
      .filter(
        ([id, { streamId, message }]) =>
          id > lastId && streamId === session.events.get(lastId)?.streamId && 'jsonrpc' in message,
      )
      .map(([id, { message }]) => ({ id: String(id), message }));
  const store: EventStore = {
    storeEvent: async (streamId, message) => (closed ? '0' : add(shared, session, streamId, message)),
    async replayEventsAfter(lastEventId, { send }) {
      for (const { id, message } of after(Number(lastEventId))) await send(id, message);
      return session.events.get(Number(lastEventId))?.streamId ?? '';
    },
  };
  return {
    ...store,
    /**
     * Returns whether a stream can be resumed after this event: not if later messages may be lost, and not after a
     * response, which is always the last message. Without `getStreamIdForEventId`, the SDK lets the newest stream take over.
     */
    canResume(lastEventId: string): boolean {
      const event = session.events.get(Number(lastEventId));
      return event !== undefined && !endsStream(event.message);
    },
    /**
     * Returns the messages after that event if they include the response, which ends the stream, or undefined otherwise.
     */
    missedToTheEnd(lastEventId: string): MissedEvent[] | undefined {
      const missed = after(Number(lastEventId));
      return missed.some(({ message }) => endsStream(message)) ? missed : undefined;
    },
    /**
     * Must be called for a protocol version with batches (2025-03-26): a stream can then carry several responses, so a
     * response does not end it.
     */
    expectBatches: () => void (batches = true),
    close(): void {
      closed = true;
      for (const event of session.events.values()) event.forget();
    },
  };
}

function add(shared: Shared, session: SessionLog, streamId: string, message: JSONRPCMessage): string {
  const id = (shared.lastId += 1);
  const bytes = JSON.stringify(message).length;
  const parts = [shared, session];
  const forget = () => {
    for (const part of parts) if (part.events.delete(id)) part.bytes -= bytes;
  };
  const event = { streamId, message, at: shared.now(), forget };
  for (const part of parts) {
    part.events.set(id, event);
    part.bytes += bytes;
  }
  for (const oldest of session.events.values()) {
    if (session.bytes <= shared.limits.sessionBytes) break;
    oldest.forget();
  }
  forgetOldest(shared);
  return String(id);
}
