/**
 * The message that arguments belong to. Encryption proves that the product wrote the arguments; this text proves for
 * which message.
 *
 * - `start`: type, workflow id. A client starts the workflow.
 * - `child`: type, workflow id, run id of the parent.
 * - `continue`: type, workflow id, run id of the run before.
 * - `schedule`: type, workflow id without the time that Temporal appends.
 * - `signal`: name, workflow id. `update`: name, workflow id, update id. `activity`: type, workflow id.
 */
export type Message =
  | ['start' | 'schedule' | 'signal' | 'activity', name: string, workflowId: string]
  | ['child' | 'continue' | 'update', name: string, workflowId: string, by: string];

/** The one argument of every message that the product sends. */
export interface Sealed {
  sealed_for: Message;
  /** Epoch seconds. */
  sent_at: number;
  args: unknown[];
}

/** The payload converter sets it on values whose payload is not bound to the workflow (workflows/payload-converter.cjs). */
const untrusted = Symbol.for('untrusted payload');

export function seal(message: Message, args: unknown[]): [Sealed] {
  return [{ sealed_for: message, sent_at: Date.now() / 1000, args }];
}

/** Returns the sealed arguments if they belong to the message, otherwise undefined. */
export function openSealed(args: readonly unknown[], message: Message): Sealed | undefined {
  const [sealed, ...others] = args;
  if (!isSealed(sealed) || others.length > 0) return undefined;
  return JSON.stringify(sealed.sealed_for) === JSON.stringify(message) ? sealed : undefined;
}

export function isSealed(value: unknown): value is Sealed {
  return isObject(value) && !isUntrusted(value) && Array.isArray(value.sealed_for) && Array.isArray(value.args);
}

/** Whether the payload of the value was not encrypted by the product for this workflow or activity. */
export function isUntrusted(value: unknown): boolean {
  return isObject(value) && untrusted in value;
}

function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Whether a Temporal Schedule with this workflow id in its action gives its runs such an id. */
export function isRunOfSchedule(workflowId: string, scheduledId: string): boolean {
  if (!workflowId.startsWith(`${scheduledId}-`)) return false;
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(workflowId.slice(scheduledId.length + 1));
}
