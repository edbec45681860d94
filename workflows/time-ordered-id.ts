import { uuid4 } from '@temporalio/workflow';

/** A UUIDv7 from the workflow's own clock and random numbers, so that lists sort by it. */
export function timeOrderedId(): string {
  const at = Date.now().toString(16).padStart(12, '0');
  return `${at.slice(0, 8)}-${at.slice(8)}-7${uuid4().slice(15)}`;
}
