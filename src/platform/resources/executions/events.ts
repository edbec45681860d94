import { setTimeout as delay } from 'node:timers/promises';
import type { Response } from 'express';
import { z } from 'zod';
import type { ExecutionEvent } from '../../../../workflows/agentflow-execution/messages.js';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { AppError } from '../../../errors.js';
import { liveEvents, readExecution } from './read.js';
import { isOver } from './record.js';

const pollMs = 300;
const keepAliveMs = 15_000;
const pageSize = 500;

/** `data` of one server-sent event; its `id` is `seq`, its `event` is `type`. */
export const EventMessage = z
  .object({ seq: z.int(), type: z.string(), at: z.number(), data: z.record(z.string(), z.unknown()) })
  .meta({ id: 'ExecutionEvent' });

/**
 * Streams an execution's events after `lastEventId` and ends after the last one (WHATWG server-sent events). A client
 * that comes back after the end gets 204, which tells it not to come again.
 */
export async function streamEvents(deps: Deps, principal: Principal, id: string, lastEventId: string | undefined, res: Response): Promise<void> {
  let last = parseLastEventId(lastEventId);
  const first = await readExecution(deps, principal, id);
  if (isOver(first.status) && last >= first.last_event_seq) {
    res.status(204).end();
    return;
  }
  res.status(200).set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  res.flushHeaders();
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  const ended = AbortSignal.any([gone.signal, deps.stopping.signal]);
  let wroteAt = Date.now();
  while (!ended.aborted) {
    const { events, over } = await eventsAfter(deps, id, last);
    for (const event of events) {
      res.write(`id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      last = event.seq;
      wroteAt = Date.now();
    }
    if (over) break;
    if (Date.now() - wroteAt > keepAliveMs) {
      res.write(': still here\n\n');
      wroteAt = Date.now();
    }
    await delay(pollMs, undefined, { signal: ended }).catch(() => undefined);
  }
  res.end();
}

/** The newest events, at most 200, in their order. @throws AppError `not_found` */
export async function newestEvents(deps: Deps, principal: Principal, id: string): Promise<ExecutionEvent[]> {
  const { last_event_seq } = await readExecution(deps, principal, id);
  return (await eventsAfter(deps, id, Math.max(0, last_event_seq - 200))).events;
}

/** Asks the workflow first and the store second, so that an event that moves between them is seen in the store. */
async function eventsAfter(deps: Deps, id: string, last: number): Promise<{ events: ExecutionEvent[]; over: boolean }> {
  const { executions, execution_events } = deps.mongo.collections;
  const record = await executions.findOne({ _id: id }, { projection: { status: 1, last_event_seq: 1 } });
  if (!record) return { events: [], over: true };
  const live = await liveEvents(deps, record);
  const stored = await execution_events.find({ execution_id: id, seq: { $gt: last } }).sort({ seq: 1 }).limit(pageSize).toArray();
  const events: ExecutionEvent[] = [];
  const seen = () => events.at(-1)?.seq ?? last;
  for (const { seq, type, at, data } of [...stored, ...live]) {
    // Without a gap: an event that this look has missed comes with the next.
    if (seq === seen() + 1) events.push({ seq, type, at, data });
  }
  return { events, over: isOver(record.status) && seen() >= record.last_event_seq };
}

function parseLastEventId(value: string | undefined): number {
  if (value === undefined || value === '') return 0;
  if (!/^\d{1,15}$/.test(value)) throw new AppError('invalid_request', 'Last-Event-ID: not an event id of this stream');
  return Number(value);
}
