import { setTimeout as delay } from 'node:timers/promises';
import type { Response } from 'express';
import { z } from 'zod';
import type { ExecutionEvent } from '../../../../workflows/agentflow-execution/messages.js';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { AppError } from '../../../errors.js';
import { createDeltaReader, ModelDelta, type DeltaReader } from './deltas.js';
import { liveEvents, readExecution } from './read.js';
import { isOver } from './record.js';

const pollMs = 300;
const keepAliveMs = 15_000;
const pageSize = 500;
/** How many events of its pauses and the like a running step may have behind its own. */
const stepWithin = 100;

/** `data` of one server-sent event; its `id` is `seq`, its `event` is `type`. */
const DurableEvent = z
  .object({ seq: z.int(), type: z.string(), at: z.number(), data: z.record(z.string(), z.unknown()) })
  .meta({ id: 'ExecutionEvent' });
/** Has no `id`: `Last-Event-ID` stays that of the event before it. */
const DeltaEvent = z.object({ type: z.literal('model_delta'), at: z.number(), data: ModelDelta }).meta({ id: 'ModelDeltaEvent' });
export const EventMessage = z.union([DurableEvent, DeltaEvent]).meta({ id: 'ExecutionStreamEvent' });

/**
 * Streams an execution's events after `lastEventId` and ends after the last one (WHATWG server-sent events); between them
 * the words of a model turn that is under way. A client that comes back after the end gets 204, which tells it not to
 * come again.
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
  const write = (text: string) => {
    res.write(text);
    wroteAt = Date.now();
  };
  const words = createWordStream(deps, id, write);
  if (last > 0) await words.resume(last);
  while (!ended.aborted) {
    const { events, over } = await eventsAfter(deps, id, last);
    await words.ending(events);
    for (const event of events) {
      write(`id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      last = event.seq;
    }
    if (over) break;
    await words.goOn(events);
    if (Date.now() - wroteAt > keepAliveMs) write(': still here\n\n');
    await delay(pollMs, undefined, { signal: ended }).catch(() => undefined);
  }
  res.end();
}

/** The words of the model turn under way, by what the events tell of its begin and end. A turn that is over has its event. */
function createWordStream(deps: Deps, id: string, write: (text: string) => void) {
  const { collections } = deps.mongo;
  let reader: DeltaReader | undefined;
  const writeNew = async () => {
    for (const { at, after_seq, agent_id, step_id, attempt, n, text } of (await reader?.next()) ?? []) {
      const message = { type: 'model_delta', at, data: { after_seq, agent_id, step_id, attempt, n, text } };
      write(`event: model_delta\ndata: ${JSON.stringify(message)}\n\n`);
    }
  };
  const follow = (events: readonly ExecutionEvent[]) => {
    const step = events.findLast(({ type }) => type.startsWith('step_'));
    if (step) reader = step.type === 'step_started' && step.data.kind === 'model' ? createDeltaReader(collections, id, step.seq) : undefined;
  };
  return {
    /** For a client that has the events up to `last`. */
    async resume(last: number): Promise<void> {
      follow((await eventsAfter(deps, id, Math.max(0, last - stepWithin))).events.filter(({ seq }) => seq <= last));
    },
    /** Before the events that end the turn: its last words. */
    async ending(events: readonly ExecutionEvent[]): Promise<void> {
      if (events.some(({ type }) => /^step_(?!started)/.test(type))) await writeNew();
    },
    async goOn(events: readonly ExecutionEvent[]): Promise<void> {
      follow(events);
      await writeNew();
    },
  };
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
