import type { ExecutionEvent } from '../../../workflows/agentflow-execution/messages.js';
import type { Deps } from '../../domain/deps.js';
import { AppError, isRefusal } from '../../errors.js';
import type { RequestContext } from '../rest/context.js';
import { beforeDeltas } from '../../domain/executions/deltas.js';
import { readExecution } from '../../domain/executions/operations/read.js';
import { isOver } from '../../domain/executions/record.js';
import { maxEventsPerStep } from '../../domain/executions/run-reader.js';
import { endsStep, turnAfter } from '../../domain/executions/turns.js';
import { viewRun, type RunView } from '../../domain/executions/watch.js';

const keepAliveMs = 15_000;
/** How often a stream checks whether its credential was revoked. */
const recheckMs = 2000;

/**
 * Streams the events of an execution after `Last-Event-ID`, and the deltas of a running model turn, until the last event
 * (WHATWG server-sent events). A client that reconnects after the end gets 204, which makes it stop.
 * @throws AppError `too_many_requests` if the organization has too many open streams
 */
export async function streamEvents(
  deps: Deps,
  { principal, req, res, recheck }: RequestContext,
  id: string,
): Promise<void> {
  let last = parseLastEventId(req.get('last-event-id'));
  const first = await readExecution(deps, principal, id);
  if (isOver(first.status) && last >= first.last_event_seq) {
    res.status(204).end();
    return;
  }
  const closed = deps.streams.open(principal.organizationId);
  res.once('close', closed);
  if (res.destroyed) return closed();
  res.status(200).set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  res.flushHeaders();
  const disconnected = new AbortController();
  res.once('close', () => disconnected.abort());
  const ended = AbortSignal.any([disconnected.signal, deps.stopping.signal]);
  let wroteAt = Date.now();
  let checkedAt = Date.now();
  const write = (text: string) => {
    res.write(text);
    wroteAt = Date.now();
  };
  const run = viewRun(deps, first);
  res.once('close', run.leave);
  const deltas = createDeltaStream(run, id, last, write);
  while (!ended.aborted) {
    await deltas.resume();
    const { events, over } = await run.eventsAfter(last);
    await deltas.writeRest(events);
    for (const event of events) {
      write(frameOf(event));
      last = event.seq;
    }
    if (over) break;
    await deltas.follow(events);
    if (Date.now() - wroteAt > keepAliveMs) write(': keep-alive\n\n');
    if (Date.now() - checkedAt > recheckMs) {
      if (await isRefused(recheck)) break;
      checkedAt = Date.now();
    }
    await run.changed(recheckMs);
  }
  res.end();
}

/** Whether the credential was revoked. A failure of the store does not end the stream. */
async function isRefused(recheck: () => Promise<void>): Promise<boolean> {
  try {
    await recheck();
    return false;
  } catch (error) {
    return isRefusal(error);
  }
}

const frames = new WeakMap<ExecutionEvent, string>();

/** The text of an event, which is the same for all viewers. */
function frameOf(event: ExecutionEvent): string {
  const frame = frames.get(event) ?? `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  frames.set(event, frame);
  return frame;
}

/** Streams the deltas of the running model turn. Events mark its start and end; the event of a finished turn has its text. */
function createDeltaStream(run: RunView, id: string, from: number, write: (text: string) => void) {
  let turn: { after_seq: number; last: string } | undefined;
  let resumeAt = from > 0 ? from : undefined;
  const writeNew = async () => {
    while (turn) {
      const found = await run.deltasAfter(turn.after_seq, turn.last);
      if (found.length === 0) return;
      for (const { _id, at, after_seq, agent_id, step_id, attempt, n, text } of found) {
        const message = { type: 'model_delta', at, data: { after_seq, agent_id, step_id, attempt, n, text } };
        write(`event: model_delta\ndata: ${JSON.stringify(message)}\n\n`);
        turn.last = _id;
      }
    }
  };
  const readTurnOf = (events: readonly ExecutionEvent[]) => {
    const after_seq = turnAfter(events);
    if (after_seq === undefined) return;
    resumeAt = undefined;
    turn = after_seq === null ? undefined : { after_seq, last: beforeDeltas(id, after_seq) };
  };
  return {
    /** Finds the turn of a client that resumes, as soon as the client's last event is known in this process. */
    async resume(): Promise<void> {
      if (resumeAt === undefined) return;
      const { events } = await run.eventsAfter(Math.max(0, resumeAt - maxEventsPerStep));
      const known = events.filter(({ seq }) => seq <= (resumeAt ?? 0));
      if (known.at(-1)?.seq !== resumeAt) return;
      resumeAt = undefined;
      readTurnOf(known);
    },
    /** Writes the remaining deltas before the event that ends the turn. */
    async writeRest(events: readonly ExecutionEvent[]): Promise<void> {
      if (endsStep(events)) await writeNew();
    },
    async follow(events: readonly ExecutionEvent[]): Promise<void> {
      readTurnOf(events);
      await writeNew();
    },
  };
}

function parseLastEventId(value: string | undefined): number {
  if (value === undefined || value === '') return 0;
  if (!/^\d{1,15}$/.test(value))
    throw new AppError('invalid_request', 'Last-Event-ID: must be an event id of this stream');
  return Number(value);
}
