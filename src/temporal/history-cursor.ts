import { isGrpcServiceError } from '@temporalio/client';
import proto from '@temporalio/proto';
import { isAppError } from '../base/errors.js';
import { isWorkflowGone, type Temporal } from './client.js';

/** Exceeds the time for which Temporal holds a long poll, 20 s by default. */
const longPollMs = 30_000;
/** Temporal limits waiting requests and polls of workers, by default to 1,200 per frontend server and namespace. */
const maxWaits = 200;

const { EVENT_TYPE_WORKFLOW_TASK_COMPLETED: taskCompleted } = proto.temporal.api.enums.v1.EventType;

export type FollowHistory = ReturnType<typeof createFollowHistory>;

/**
 * Creates a function that follows the history of the newest run of a workflow from its current end until `signal` aborts
 * the wait. All its cursors share the limit of `maxWaits`.
 */
export function createFollowHistory(temporal: Pick<Temporal, 'call' | 'wait' | 'client'>) {
  const waits = { count: 0 };
  return (workflowId: string, signal: AbortSignal) => createHistoryCursor(temporal, waits, workflowId, signal);
}

function createHistoryCursor(
  { call, wait, client }: Pick<Temporal, 'call' | 'wait' | 'client'>,
  waits: { count: number },
  workflowId: string,
  signal: AbortSignal,
) {
  const { namespace } = client.options;
  let token: Uint8Array | undefined;

  const readPage = async () => {
    const request = { namespace, execution: { workflowId }, waitNewEvent: true, skipArchival: true };
    const { history, nextPageToken } = await wait(
      ({ workflowService }) =>
        workflowService.getWorkflowExecutionHistory({ ...request, ...(token && { nextPageToken: token }) }),
      longPollMs,
      signal,
    );
    // A page has a token after its last event only if the run is open.
    token = nextPageToken?.length ? nextPageToken : undefined;
    return history?.events ?? [];
  };
  const hasNews = (events: Awaited<ReturnType<typeof readPage>>) =>
    events.some(({ eventType }) => eventType === taskCompleted);
  /** A run that has not completed a workflow task has nothing to show yet. */
  const begin = async (): Promise<boolean> => {
    const events = await readPage();
    if (token === undefined) return false;
    return hasNews(events) ? goToEnd(events) : untilNext();
  };
  /** Pages to the current end of the history without waiting, because only paging returns a token. */
  const goToEnd = async (first: Awaited<ReturnType<typeof readPage>>): Promise<boolean> => {
    const { historyLength } = await call((temporal) => temporal.workflow.getHandle(workflowId).describe());
    let seen = Number(first.at(-1)?.eventId ?? historyLength);
    while (token && seen < historyLength) seen = Number((await readPage()).at(-1)?.eventId ?? historyLength);
    return token !== undefined;
  };
  const untilNext = async (): Promise<boolean> => {
    if (waits.count >= maxWaits) return false;
    waits.count += 1;
    try {
      for (;;) {
        const events = await readPage();
        if (!token || hasNews(events)) return true;
      }
    } finally {
      waits.count -= 1;
    }
  };
  return {
    /**
     * Waits until the run completes a workflow task or closes, because its state changes only then. The first call returns
     * immediately for a run that has completed one. The wait does not affect the workflow.
     * @returns false without waiting if there is no open run, if Temporal does not respond, or if this process has
     * reached its limit of waits
     */
    async next(): Promise<boolean> {
      try {
        return await (token ? untilNext() : begin());
      } catch (error) {
        if (isAppError(error)) return false;
        token = undefined;
        if (isWorkflowGone(error) || isGrpcServiceError(error)) return false;
        throw error;
      }
    },
  };
}
