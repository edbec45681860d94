import { z } from 'zod';
import { eventData } from '../../../workflows/agentflow-execution/event-data.js';
import type { ExecutionEvent } from '../../../workflows/agentflow-execution/messages.js';
import type { Collections } from '../../stores/collections.js';
import { ModelDelta, StepProgress } from './deltas.js';
import { EpochSeconds } from '../../base/time.js';
import { pascalCase } from '../../base/text.js';

const pageSize = 500;

type EventType = keyof typeof eventData;

/** One server-sent event; its `id` is `seq`, its `event` is `type`. */
const durableEvent = (type: EventType) =>
  z
    .object({
      seq: z.int().meta({ example: 17 }),
      type: z.literal(type),
      at: EpochSeconds,
      data: z.object(eventData[type]),
    })
    .meta({ id: `Execution${pascalCase(type)}Event` });
const types = Object.keys(eventData) as EventType[];
const DurableEvent = z
  .union(types.map(durableEvent))
  .meta({
    id: 'ExecutionEvent',
    description: 'Later versions of the service may send events of other types. Ignore a type that you do not know.',
  });
/** Has no `id`, so that `Last-Event-ID` remains that of the previous event. */
const DeltaEvent = z
  .object({ type: z.literal('model_delta'), at: EpochSeconds, data: ModelDelta })
  .meta({ id: 'ModelDeltaEvent' });
const ProgressEvent = z
  .object({ type: z.literal('step_progress'), at: EpochSeconds, data: StepProgress })
  .meta({ id: 'StepProgressEvent' });
export const EventMessage = z.union([DurableEvent, DeltaEvent, ProgressEvent]).meta({ id: 'ExecutionStreamEvent' });

/** The events of the store after `last`, in order and without a gap. At most 500. */
export async function storedEvents(
  { execution_events }: Pick<Collections, 'execution_events'>,
  executionId: string,
  last: number,
): Promise<ExecutionEvent[]> {
  const found = await execution_events
    .find({ execution_id: executionId, seq: { $gt: last } })
    .sort({ seq: 1 })
    .limit(pageSize)
    .toArray();
  return inSequence(found, last).map(({ seq, type, at, data }) => ({ seq, type, at, data }));
}

/** The events that follow `last` without a gap. */
export function inSequence<E extends Pick<ExecutionEvent, 'seq'>>(events: readonly E[], last: number): E[] {
  let next = last + 1;
  return events.filter(({ seq }) => {
    if (seq !== next) return false;
    next += 1;
    return true;
  });
}
