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
  close(): void;
}

interface Event {
  streamId: string;
  message: JSONRPCMessage;
  bytes: number;
  at: number;
  forget(): void;
}

/** Ids grow over all sessions, so the oldest is the first: that is what goes when there is too much. */
export function createEventLog(limits: EventLogLimits, now: () => number = Date.now): EventLog {
  const events = new Map<number, Event>();
  let lastId = 0;
  let totalBytes = 0;

  const sweep = () => {
    for (const event of events.values()) {
      if (totalBytes <= limits.totalBytes && now() - event.at <= limits.ageMs) return;
      event.forget();
    }
  };

  const forSession = (): SessionEvents => {
    const own = new Map<number, Event>();
    let ownBytes = 0;
    let closed = false;
    const add = (streamId: string, message: JSONRPCMessage) => {
      const id = (lastId += 1);
      const bytes = JSON.stringify(message).length;
      const forget = () => {
        events.delete(id);
        own.delete(id);
        totalBytes -= bytes;
        ownBytes -= bytes;
      };
      const event = { streamId, message, bytes, at: now(), forget };
      events.set(id, event);
      own.set(id, event);
      totalBytes += bytes;
      ownBytes += bytes;
      for (const oldest of own.values()) {
        if (ownBytes <= limits.sessionBytes) break;
        oldest.forget();
      }
      sweep();
      return String(id);
    };
    return {
      storeEvent: async (streamId, message) => (closed ? '0' : add(streamId, message)),
      // Undefined where something after it may be lost, and after a response, which ends its stream: both are a 400.
      async getStreamIdForEventId(eventId) {
        const event = own.get(Number(eventId));
        return event && !isResponse(event.message) ? event.streamId : undefined;
      },
      async replayEventsAfter(lastEventId, { send }) {
        const after = Number(lastEventId);
        const streamId = own.get(after)?.streamId ?? '';
        for (const [id, event] of own) {
          // A priming event is an empty message: it is an id to resume from, nothing to send.
          if (id > after && event.streamId === streamId && 'jsonrpc' in event.message) await send(String(id), event.message);
        }
        return streamId;
      },
      close() {
        closed = true;
        for (const event of own.values()) event.forget();
      },
    };
  };
  return { forSession, sweep, size: () => events.size };
}

function isResponse(message: JSONRPCMessage): boolean {
  return 'result' in message || 'error' in message;
}
