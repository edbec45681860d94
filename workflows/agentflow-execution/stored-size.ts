import { ApplicationFailure } from '@temporalio/workflow';
import type { ExecutionState } from './messages.js';

/** MongoDB refuses a record over 16 MiB. The rest is for what changes while a run goes on, such as events that are waited for. */
export const maxRecordBytes = 15 * 1024 * 1024;
/** What the record of a step needs besides its output. */
const bytesPerStep = 500;

/** The bytes of a JSON value in MongoDB (https://bsonspec.org). A list of short numbers needs several times its text. */
export function storedBytes(value: unknown): number {
  if (typeof value === 'string') return utf8Bytes(value) + 5;
  if (typeof value === 'number') return Object.is(value | 0, value) ? 4 : 8;
  if (typeof value !== 'object' || value === null) return 1;
  let bytes = 5;
  if (Array.isArray(value))
    for (const [at, each] of value.entries()) bytes += String(at).length + 2 + storedBytes(each);
  else for (const [name, each] of Object.entries(value)) bytes += utf8Bytes(name) + 2 + storedBytes(each);
  return bytes;
}

function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // Each half of a surrogate pair counts as two bytes.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

/**
 * Counts what the record of the run will contain.
 * @throws ApplicationFailure `validation_failed` if it has no room for the values
 */
export function takeRoom(state: ExecutionState, ...values: unknown[]): void {
  if (state.room === undefined) return;
  state.room -= values.reduce((sum: number, value) => sum + storedBytes(value), 0);
  if (state.room >= state.steps.length * bytesPerStep) return;
  const message =
    'the answers and outputs of this execution are too large for its record, with the agentflow and the inputs';
  throw ApplicationFailure.nonRetryable(message, 'validation_failed');
}
