import { permits } from '../../auth/principal.js';
import type { Deps } from '../../domain/deps.js';
import { readExecutionLive } from '../../domain/executions/operations.js';
import { readLive } from '../../domain/executions/operations/live.js';
import { readExecution } from '../../domain/executions/operations/read.js';
import { permissionOf } from '../../governance/operations/operation.js';
import { isAppError } from '../../base/errors.js';
import type { RequestContext } from '../rest/context.js';

/** Shorter than the time limits of common proxies. */
const longestWaitSeconds = 60;

/** Returns the seconds of `Prefer: wait=30` (RFC 7240, 4.3), at most 60, or undefined without a valid preference. */
export function preferredWait(prefer: string | undefined): number | undefined {
  for (const preference of (prefer ?? '').split(',')) {
    const [, seconds] = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;.*)?$/i.exec(preference) ?? [];
    if (seconds !== undefined) return Math.min(Number(seconds), longestWaitSeconds);
  }
  return undefined;
}

type Waiting = Pick<RequestContext, 'principal' | 'req' | 'res'>;

/**
 * Waits for the end of a run that was started, if the caller prefers to and may read runs. All waits for a run share one
 * watch of it, and each counts as an open stream of the organization. A client that disconnects ends its wait.
 * @returns the finished execution, or `started` if the run has not ended in time
 */
export async function waitForRun(deps: Deps, ctx: Waiting, started: { execution_id: string }): Promise<unknown> {
  const { principal, req, res } = ctx;
  const seconds = preferredWait(req.get('prefer'));
  if (seconds === undefined || !permits(principal, permissionOf(readExecutionLive))) return started;
  const close = openedStream(deps, principal.organizationId);
  if (!close) return started;
  const id = started.execution_id;
  try {
    const answer = (await ends(deps, ctx, id, seconds)) ? await readLive(deps, principal, id) : started;
    res.set({ 'Preference-Applied': `wait=${seconds}`, Vary: 'Prefer' });
    return answer;
  } catch (error) {
    // The run was started, whatever happens to the wait.
    deps.log.warn({ err: error, execution_id: id }, 'waiting for the end of a run failed');
    return started;
  } finally {
    close();
  }
}

/** Undefined if the organization has too many open streams, so that the answer is sent at once. */
function openedStream({ streams }: Deps, organizationId: string): (() => void) | undefined {
  try {
    return streams.open(organizationId);
  } catch (error) {
    if (isAppError(error)) return undefined;
    throw error;
  }
}

async function ends(deps: Deps, { principal, res }: Waiting, id: string, seconds: number): Promise<boolean> {
  const until = performance.now() + seconds * 1000;
  const record = await readExecution(deps, principal, id);
  const run = deps.viewRun(record);
  res.once('close', run.leave);
  try {
    for (let last = record.last_event_seq; ;) {
      const { events, over } = await run.eventsAfter(last);
      if (over) return true;
      last = events.at(-1)?.seq ?? last;
      const left = until - performance.now();
      if (left <= 0 || res.closed || deps.stopping.signal.aborted) return false;
      await run.changed(left);
    }
  } finally {
    res.off('close', run.leave);
    run.leave();
  }
}
