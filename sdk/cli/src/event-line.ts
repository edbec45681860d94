import type { ExecutionStreamEvent } from '../../node/src/index.js';

type Type = ExecutionStreamEvent['type'];
type DataOf<T extends Type> = Extract<ExecutionStreamEvent, { type: T }>['data'];

/** Returns the name of an agent or a step by its id. */
type NameOf = (id: string) => string;

interface Context {
  nameOf: NameOf;
  /** The address of the inbox in the console. */
  inbox: string;
}

/** What an event says, or undefined for one that is not a line. */
type Words = { [T in Type]: (data: DataOf<T>, context: Context) => string | undefined };

const words: Words = {
  turn_awaited: () => 'waits for its turn',
  started: ({ goal }) => (goal === '' ? 'has started' : `has started: ${short(goal)}`),
  agent_started: ({ title }) => `${title} has started`,
  agent_completed: ({ agent_id, output }, { nameOf }) => `${nameOf(agent_id)} has ended: ${short(output)}`,
  step_started: ({ name }) => `${name} has started`,
  step_continued: ({ step_id }, { nameOf }) => `${nameOf(step_id)} goes on`,
  step_completed: ({ step_id }, { nameOf }) => `${nameOf(step_id)} has ended`,
  step_failed: ({ step_id, error }, { nameOf }) => `${nameOf(step_id)} has failed: ${error ?? 'no reason was given'}`,
  step_cancelled: ({ step_id }, { nameOf }) => `${nameOf(step_id)} was cancelled`,
  tool_call_refused: ({ agent_id, name, problem }, { nameOf }) =>
    `${nameOf(agent_id)}: the call of ${name} was refused: ${problem}`,
  output_refused: ({ agent_id, problems }, { nameOf }) =>
    `${nameOf(agent_id)}: the output does not match its schema: ${problems.join('; ')}`,
  approval_requested: ({ name, approval_id }, { inbox }) =>
    `${name} waits for approval: gcs approve ${approval_id}, or ${inbox}`,
  approval_settled: ({ approval_id }) => `the approval ${approval_id} is decided`,
  question_asked: ({ name }, { inbox }) => `${name} waits for an answer: ${inbox}`,
  question_settled: ({ step_id, by }, { nameOf }) => `${nameOf(step_id)} is answered${byWhom(by)}`,
  act_edited: ({ step_id, fields }, { nameOf }) => `${nameOf(step_id)} was edited: ${fields.join(', ')}`,
  preview_requested: ({ title, kind }, { inbox }) => `${title} waits for a decision on its ${kind}: ${inbox}`,
  preview_decided: ({ agent_id, status, by }, { nameOf }) => `${nameOf(agent_id)}: ${status}${byWhom(by)}`,
  elicitation_requested: ({ name }, { inbox }) => `${name} waits for an answer: ${inbox}`,
  elicitation_settled: ({ step_id }, { nameOf }) =>
    `${step_id === null ? 'the question' : nameOf(step_id)} is answered`,
  anomaly_detected: ({ agent_id, finding }, { nameOf }) => `${nameOf(agent_id)}: ${short(finding)}`,
  anomaly_not_checked: ({ agent_id, reason }, { nameOf }) => `${nameOf(agent_id)} was not checked: ${reason}`,
  child_started: ({ execution_id }) => `the run ${execution_id} was started`,
  event_received: ({ name }) => `the event ${name} has arrived`,
  signal_ignored: ({ signal, status }) => `${signal} was ignored, because the run is ${status}`,
  paused: ({ by, reason }) => `paused${byWhom(by)}${reason ? `: ${reason}` : ''}`,
  resumed: ({ by, reason }) => `resumed${byWhom(by)}${reason ? `: ${reason}` : ''}`,
  failover_started: ({ failure }) => `starts again with the other goal, after: ${short(failure)}`,
  completed: () => 'has completed',
  failed: ({ message, reason }) => `has failed: ${message || reason}`,
  // Words and progress are no lines.
  model_delta: () => undefined,
  step_progress: () => undefined,
};

/** Returns the lines of the events of one run, in the order in which they come. */
export function createEventLines(inbox: string): (event: ExecutionStreamEvent) => string | undefined {
  const names = new Map<string, string>();
  const context: Context = { inbox, nameOf: (id) => names.get(id) ?? id };
  return (event) => {
    if (event.type === 'agent_started') names.set(event.data.agent_id, event.data.title);
    if (event.type === 'step_started') names.set(event.data.step_id, event.data.name);
    const say = words[event.type] as ((data: unknown, context: Context) => string | undefined) | undefined;
    // A newer service can send events that this version does not know.
    const text = say ? say(event.data, context) : `${String(event.type)} ${short(event.data)}`;
    if (text === undefined) return undefined;
    const time = new Date(event.at * 1000).toISOString().slice(11, 19);
    return `${time} ${text}${placeOf(event.data)}`;
  };
}

/** Where in the flow it is, such as a branch or an item. */
function placeOf(data: object): string {
  return 'path' in data && typeof data.path === 'string' && data.path !== '' ? ` (${data.path})` : '';
}

function byWhom(by: unknown): string {
  return typeof by === 'string' && by !== '' ? ` by ${by}` : '';
}

const maxLength = 300;

/** A value in one line. The whole value is in the run, and in the output of `--json`. */
function short(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
