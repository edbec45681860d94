import { setTimeout as delay } from 'node:timers/promises';
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  makeGrpcRetryInterceptor,
  ScheduleNotFoundError,
  WorkflowClient,
  WorkflowNotFoundError,
  type ScheduleHandle,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import type { DataConverter, QueryDefinition } from '@temporalio/common';
import { status } from '@grpc/grpc-js';
import { abortWith, within } from '../base/async.js';
import { AppError, isAppError } from '../base/errors.js';
import type { BlobStore } from '../stores/blobs.js';
import type { Cipher } from '../stores/encrypted-blobs.js';
import { createTurns } from '../base/turns.js';
import { createDataConverter } from './data-converter.js';
import type { TemporalConfig } from './environment.js';
import { refusesAfterClose } from './closed-connection.js';
import { createPayloadCodec, createWorkerCodec } from './payload-codec.js';
import type { PayloadTrust } from './payload-trust.js';
import { priorities } from './priority.js';
import { sealedMessages } from './sealed-messages.js';
import {
  createWorkflowOrganizations,
  organizationInterceptors,
  type ReadOrganization,
  type WorkflowOrganizations,
} from './workflow-organizations.js';

export interface Temporal {
  client: Client;
  dataConverter: DataConverter;
  /** Workers obey what they decode, so their converter marks what the product did not send to the workflow. */
  workerDataConverter: DataConverter;
  trust: PayloadTrust;
  /** Returns the organization of a workflow, or '' if it is unknown. */
  organizationOf: WorkflowOrganizations['of'];
  taskQueue: string;
  /**
   * Runs calls to which Temporal responds itself, under one deadline, by default ten seconds. A process makes 100 at
   * once; other calls queue. An unresponsive Temporal is detected within two seconds.
   * @throws AppError `unavailable` if Temporal does not respond in time, or if too many calls wait
   */
  call<T>(work: (client: Client) => Promise<T>, timeoutMs?: number): Promise<T>;
  /**
   * Like `call`, for requests that Temporal holds until an event occurs, such as long polls. They do not queue.
   * @throws AppError `unavailable` also if `signal` aborts the wait
   */
  wait<T>(work: (client: Client) => Promise<T>, timeoutMs: number, signal?: AbortSignal): Promise<T>;
  /**
   * Like `wait`, for updates, to which a worker responds within fifteen seconds. An update without a response may still
   * take effect, so give it an id that makes a retry safe.
   */
  callWorker<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /**
   * Queries an open run.
   * @throws QueryRejectedError for a closed run, with its status; otherwise like `wait`
   */
  queryOpenRun<T>(workflowId: string, query: QueryDefinition<T>, timeoutMs: number): Promise<T>;
  /** Returns the URL of a run in the Temporal UI. */
  uiLink(workflowId: string, runId?: string): string;
  /** Returns the URL of a Temporal Schedule in the Temporal UI. */
  scheduleUiLink(scheduleId: string): string;
  /** Returns the URL of a task queue in the Temporal UI. */
  queueUiLink(taskQueue: string): string;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Allows for a Temporal server that is busy with other requests. */
const defaultTimeoutMs = 10_000;
/** Longer than the ten seconds after which Temporal gives the tasks of a dead worker to another one. */
const workerTimeoutMs = 15_000;
/**
 * The wait for a response before checking Temporal itself, so that a caller learns within two seconds that it is down.
 */
const pingAfterMs = 400;
const pingTimeoutMs = 1200;
/**
 * By default, gRPC waits up to two minutes between connection attempts and would notice a recovered Temporal too late.
 */
const reconnecting = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 1000 };
const unconfirmed =
  'the workflow service did not confirm the request in time. It may still take effect: read the present state, or repeat the request with the same Idempotency-Key to get its outcome';
/**
 * With more concurrent calls, Temporal responds late to all of them, and retries keep it overloaded. The limit also
 * bounds how many calls are cancelled at once when Temporal stops: the HTTP/2 of Node 20 can loop on many cancelled
 * streams (nodejs/node#52952).
 */
const turnLimits = { what: 'calls to the workflow service', whose: 'this process', maxRunning: 100, maxWaiting: 2000 };
/** Deleting up to fifty histories. */
const removeMs = 60_000;
/** The attempts per request while the server refuses connections, about one second in total. */
const maxAttempts = 4;

interface TemporalDeps {
  /** Stores payloads that are too large for a history. */
  blobs: BlobStore;
  cipher: Cipher;
  readOrganization: ReadOrganization;
  trust: PayloadTrust;
  interceptors?: WorkflowClientInterceptor[];
}

export function createTemporal(
  options: TemporalConfig,
  { blobs, cipher, readOrganization, trust, interceptors: workflow = [] }: TemporalDeps,
): Temporal {
  const organizations = createWorkflowOrganizations(readOrganization);
  const dataConverter = createDataConverter(blobs, createPayloadCodec(cipher, organizations));
  const workerDataConverter = createDataConverter(blobs, createWorkerCodec(cipher, organizations, trust));
  const learners = organizationInterceptors(organizations);
  const interceptors = [makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ maxAttempts })), refusesAfterClose];
  const connection = Connection.lazy({ ...options.connection, interceptors, channelArgs: reconnecting });
  const common = { connection, namespace: options.namespace, dataConverter };
  const ofWorkflows = [priorities, ...workflow, ...learners.workflow, sealedMessages];
  const client = new Client({ ...common, interceptors: { workflow: ofWorkflows, schedule: learners.schedule } });
  const openRuns = new WorkflowClient({ ...common, interceptors: ofWorkflows, queryRejectCondition: 'NOT_OPEN' });

  /**
   * Runs one call. Aborting frees its resources in this process but does not undo what the server has already accepted.
   */
  const attempt = async <T>(
    work: (client: Client) => Promise<T>,
    timeoutMs: number,
    signals: AbortSignal[] = [],
  ): Promise<T> => {
    const over = abortWith(...signals);
    const withDeadline = () => connection.withDeadline(Date.now() + timeoutMs, () => work(client));
    try {
      // The deadline of a call limits each attempt, but not the delays between attempts.
      return await within(timeoutMs, connection.withAbortSignal(over.signal, withDeadline), timedOut);
    } catch (error) {
      throw unreachable(error)
        ? new AppError('unavailable', 'the workflow service does not answer', { cause: error })
        : error;
    } finally {
      over.abort();
    }
  };
  let pinging: Promise<void> | undefined;
  const ping = () =>
    (pinging ??= attempt((temporal) => temporal.workflowService.getSystemInfo({}), pingTimeoutMs)
      .then(() => undefined)
      .finally(() => (pinging = undefined)));
  const turns = createTurns({ ...turnLimits, waitTimeoutMs: defaultTimeoutMs, code: 'unavailable' });
  /** Waits for the response to `begin` while Temporal responds to pings. */
  const whileReachable = async <T>(begin: (over: AbortSignal) => Promise<T>): Promise<T> => {
    const over = new AbortController();
    const answer = begin(over.signal);
    const patience = delay(pingAfterMs, undefined, { signal: over.signal })
      .then(ping)
      .then(() => answer);
    try {
      return await Promise.race([answer, patience]);
    } finally {
      over.abort();
    }
  };

  const wait: Temporal['wait'] = (work, timeoutMs, signal) =>
    whileReachable((over) => attempt(work, timeoutMs, signal ? [over, signal] : [over]));

  return {
    client,
    dataConverter,
    workerDataConverter,
    trust,
    organizationOf: organizations.of,
    taskQueue: options.taskQueue,
    call(work, timeoutMs = defaultTimeoutMs) {
      const deadline = Date.now() + timeoutMs;
      const inTurn = (signal: AbortSignal) =>
        turns.take('', () => attempt(work, deadline - Date.now(), [signal]), { signal });
      return whileReachable((over) => within(timeoutMs, inTurn(over), timedOut));
    },
    wait,
    queryOpenRun: (workflowId, query, timeoutMs) => wait(() => openRuns.getHandle(workflowId).query(query), timeoutMs),
    callWorker: (work) =>
      wait(work, workerTimeoutMs).catch((error: unknown) => {
        throw isAppError(error) && error.code === 'unavailable'
          ? new AppError('unavailable', unconfirmed, { cause: error })
          : error;
      }),
    ...linksToUi(options),
    ping,
    close: () => connection.close(),
  };
}

function linksToUi({ uiUrl, namespace }: TemporalConfig): Pick<Temporal, 'uiLink' | 'scheduleUiLink' | 'queueUiLink'> {
  const link = (path: string) => `${uiUrl}/namespaces/${namespace}/${path}`;
  return {
    uiLink: (workflowId, runId) =>
      link(`workflows/${encodeURIComponent(workflowId)}${runId === undefined ? '' : `/${runId}`}`),
    scheduleUiLink: (scheduleId) => link(`schedules/${encodeURIComponent(scheduleId)}`),
    queueUiLink: (taskQueue) => link(`task-queues/${encodeURIComponent(taskQueue)}`),
  };
}

const timedOut = () => new AppError('unavailable', 'the workflow service does not answer');

/**
 * Temporal returns FAILED_PRECONDITION for a query if no worker polls or the worker cannot run the workflow, and
 * ABORTED, INTERNAL or UNKNOWN if its own store fails. The last two codes mean that the credentials of this process are
 * wrong, which the caller cannot fix.
 */
const unreachableCodes = new Set<number>([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.RESOURCE_EXHAUSTED,
  status.FAILED_PRECONDITION,
  status.ABORTED,
  status.INTERNAL,
  status.UNKNOWN,
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
]);

/** While its store fails, Temporal also reports that the namespace does not exist. */
const unreachableNames = new Set(['WorkflowUpdateRPCTimeoutOrCancelledError', 'NamespaceNotFoundError']);

function unreachable(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isGrpcServiceError(at)) return unreachableCodes.has(at.code);
    if (unreachableNames.has(at.name)) return true;
  }
  return false;
}

export function isWorkflowGone(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError;
}

/** Requests the cancellation of a workflow, unless it has ended. */
export async function cancelWorkflow(temporal: Pick<Temporal, 'call'>, workflowId: string): Promise<void> {
  try {
    await temporal.call((client) => client.workflow.getHandle(workflowId).cancel());
  } catch (error) {
    if (!isWorkflowGone(error)) throw error;
  }
}

/** Deletes the histories of workflows that have ended. Safe to repeat. */
export async function removeClosedRuns(
  temporal: Pick<Temporal, 'call'>,
  workflowIds: readonly string[],
): Promise<void> {
  const ids = workflowIds.map((id) => `'${id}'`).join(', ');
  const query = `WorkflowId IN (${ids}) AND ExecutionStatus != 'Running'`;
  await temporal.call(async (client) => {
    for await (const { workflowId, runId } of client.workflow.list({ query }))
      await client.workflowService
        .deleteWorkflowExecution({ namespace: client.options.namespace, workflowExecution: { workflowId, runId } })
        .catch((error: unknown) => {
          if (!isGrpcServiceError(error) || error.code !== status.NOT_FOUND) throw error;
        });
  }, removeMs);
}

/** Works on a Temporal Schedule. Returns undefined if there is none with this id. */
export async function onScheduleIfAny<T>(
  temporal: Pick<Temporal, 'call'>,
  scheduleId: string,
  work: (handle: ScheduleHandle) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await temporal.call((client) => work(client.schedule.getHandle(scheduleId)));
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}
