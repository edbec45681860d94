import { ApplicationFailure, defineUpdate, setHandler } from '@temporalio/workflow';
import type { AgentflowExecutionInput, ExecutionState, ExecutionStatus } from '../messages.js';
import { pathsOf } from '../paths.js';
import { addEvent, isOver } from '../state.js';
import type { FlowEvent } from './received-events.js';

export interface EventReceipt {
  execution_id: string;
  event_id: string;
  status: ExecutionStatus;
}

/** Refused with type `conflict` by a run that has ended, has no step that waits for this name, or has too many events. */
export const deliverEventUpdate = defineUpdate<EventReceipt, [FlowEvent]>('deliverEvent');

/** The maximum number of events that wait for a step and of their characters, and of ids that are remembered. */
const maxWaiting = 100;
const maxWaitingLength = 1024 * 1024;
const maxIds = 1000;

/** Keeps events until a `wait` step takes them, because they can arrive before the run is at the step. */
export function handleEvents(input: AgentflowExecutionInput, state: ExecutionState, changed: () => void): void {
  const names = new Set(
    input.steps?.flatMap((step) => (step.type === 'wait' && step.event ? [step.event.name] : [])) ?? [],
  );
  const isKnown = ({ id }: FlowEvent) => state.events?.ids.includes(id) === true;
  const receive = (event: FlowEvent): EventReceipt => {
    const events = (state.events ??= { waiting: [], ids: [], count: 0 });
    if (!isKnown(event)) {
      events.waiting.push(event);
      events.ids = [...events.ids, event.id].slice(-maxIds);
      events.count += 1;
      addEvent(state, 'event_received', event.at, { event_id: event.id, name: event.name, by: event.by });
      changed();
    }
    return { execution_id: input.execution_id, event_id: event.id, status: state.status };
  };
  setHandler<EventReceipt, [FlowEvent], typeof deliverEventUpdate>(deliverEventUpdate, receive, {
    description: 'Deliver an event to the step that waits for it',
    validator: (event) => {
      const refuse = (message: string) =>
        ApplicationFailure.nonRetryable(message, 'conflict', { status: state.status });
      if (isKnown(event)) return;
      if (isOver(state)) throw refuse(`the execution is ${state.status}`);
      if (event.step_id !== undefined && !pathsOf(state).some((path) => path.event?.step_id === event.step_id))
        throw refuse('the step no longer waits for the event');
      if (!names.has(event.name)) throw refuse(`no step waits for the event ${JSON.stringify(event.name)}`);
      if ((state.events?.waiting.length ?? 0) >= maxWaiting)
        throw refuse(`${maxWaiting} events already wait for their steps`);
      if (lengthOf([...(state.events?.waiting ?? []), event]) > maxWaitingLength)
        throw refuse(`the events that wait for their steps would have more than ${maxWaitingLength} characters`);
    },
  });
}

function lengthOf(events: readonly FlowEvent[]): number {
  return events.reduce((sum, { data }) => sum + (JSON.stringify(data)?.length ?? 0), 0);
}

/** Takes the first event that is meant. */
export function takeEvent(
  { events }: Pick<ExecutionState, 'events'>,
  isMeant: (event: FlowEvent) => boolean,
): FlowEvent | undefined {
  const at = events?.waiting.findIndex(isMeant) ?? -1;
  return at < 0 ? undefined : events?.waiting.splice(at, 1)[0];
}
