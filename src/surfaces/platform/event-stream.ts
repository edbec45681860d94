import type { ExecutionEvent } from '../../../workflows/agentflow-execution/messages.js';
import type { Deps } from '../../domain/deps.js';
import type { RequestContext } from '../rest/context.js';
import { beforeDeltas } from '../../domain/executions/deltas.js';
import { readExecution } from '../../domain/executions/operations/read.js';
import { isOver } from '../../domain/executions/record.js';
import { maxEventsPerStep } from '../../domain/executions/run-reader.js';
import { endsStep, reportingStepAfter } from '../../domain/executions/step-news.js';
import type { RunView } from '../../domain/executions/watch.js';
import { frameOf, lastEventId, recheckMs, sendEvents } from './server-sent-events.js';

/**
 * Streams the events of an execution after `Last-Event-ID`, and the text or the progress of the running step, until the
 * last event (WHATWG server-sent events). A client that reconnects after the end gets 204, which stops it from
 * reconnecting.
 * @throws AppError `too_many_requests` if the organization has too many open streams
 */
export async function streamEvents(deps: Deps, ctx: RequestContext, id: string): Promise<void> {
  const { principal, req, res } = ctx;
  let last = lastEventId(req.get('last-event-id')) ?? 0;
  const first = await readExecution(deps, principal, id);
  if (isOver(first.status) && last >= first.last_event_seq) {
    res.status(204).end();
    return;
  }
  const stream = sendEvents(deps, ctx);
  if (!stream) return;
  const { write, ended, mayGoOn } = stream;
  const run = deps.viewRun(first);
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
    if (!(await mayGoOn())) break;
    await run.changed(recheckMs);
  }
  res.end();
}

/** Streams the text of the running model turn, or the progress of the running tool. Events start and end a step. */
function createDeltaStream(run: RunView, id: string, from: number, write: (text: string) => void) {
  let turn: { after_seq: number; last: string } | undefined;
  let resumeAt = from > 0 ? from : undefined;
  const writeNew = async () => {
    while (turn) {
      const found = await run.deltasAfter(turn.after_seq, turn.last);
      if (found.length === 0) return;
      for (const { _id, at, expires_at: _until, ...data } of found) {
        const type = 'text' in data ? 'model_delta' : 'step_progress';
        write(`event: ${type}\ndata: ${JSON.stringify({ type, at, data })}\n\n`);
        turn.last = _id;
      }
    }
  };
  const readTurnOf = (events: readonly ExecutionEvent[]) => {
    const after_seq = reportingStepAfter(events);
    if (after_seq === undefined) return;
    resumeAt = undefined;
    turn = after_seq === null ? undefined : { after_seq, last: beforeDeltas(id, after_seq) };
  };
  return {
    /** Finds the turn of a client that resumes, as soon as this process knows the client's last event. */
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
