import { patched, uuid4 } from '@temporalio/workflow';

/** A UUIDv7 from the workflow's own clock and random numbers, so that lists sort by it. Runs of older releases keep their UUIDv4 ids. */
export function timeOrderedId(): string {
  const random = uuid4();
  if (!patched('time-ordered-ids')) return random;
  const at = Date.now().toString(16).padStart(12, '0');
  return `${at.slice(0, 8)}-${at.slice(8)}-7${random.slice(15)}`;
}
