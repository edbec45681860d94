import { setTimeout as delay } from 'node:timers/promises';
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  makeGrpcRetryInterceptor,
  WorkflowNotFoundError,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { status } from '@grpc/grpc-js';
import type { Config } from '../config.js';
import { AppError } from '../errors.js';
import type { BlobStore } from '../stores/blobs.js';
import { createDataConverter } from './data-converter.js';

export interface Temporal {
  client: Client;
  dataConverter: DataConverter;
  taskQueue: string;
  /**
   * Runs calls to Temporal under one deadline.
   * @throws AppError `unavailable` when Temporal, or for updates and queries a worker, does not answer in time
   */
  call<T>(work: (client: Client) => Promise<T>, timeoutMs?: number): Promise<T>;
  /**
   * Like `call`, for updates and queries that need a worker as well: a busy worker has ten seconds, while a Temporal
   * that does not answer is noticed within two.
   */
  callWorker<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** The page of a run in the Temporal UI. */
  uiLink(workflowId: string, runId?: string): string;
  /** The page of a Temporal Schedule in the Temporal UI. */
  scheduleUiLink(scheduleId: string): string;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** A caller learns within two seconds that Temporal is down (issue: Temporal down). */
const defaultTimeoutMs = 1800;
const workerTimeoutMs = 10_000;
/** How long a call that needs a worker may be silent before Temporal itself is asked. */
const patienceMs = 400;
const pingTimeoutMs = 1200;
/** Of one request while the server refuses connections: about a second in all. */
const maxAttempts = 4;

export function createTemporal(options: Config['temporal'], blobs: BlobStore, workflow: WorkflowClientInterceptor[] = []): Temporal {
  const dataConverter = createDataConverter(blobs);
  const interceptors = [makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ maxAttempts }))];
  const connection = Connection.lazy({ ...options.connection, interceptors });
  const client = new Client({ connection, namespace: options.namespace, dataConverter, interceptors: { workflow } });

  /** What nobody waits for any longer is aborted, so that it has no effect after its caller was told `unavailable`. */
  const attempt = async <T>(work: (client: Client) => Promise<T>, timeoutMs: number, over = new AbortController()): Promise<T> => {
    const withDeadline = () => connection.withDeadline(Date.now() + timeoutMs, () => work(client));
    try {
      return await within(timeoutMs, connection.withAbortSignal(over.signal, withDeadline));
    } catch (error) {
      throw unreachable(error) ? new AppError('unavailable', 'the workflow service does not answer', { cause: error }) : error;
    } finally {
      over.abort();
    }
  };
  const call: Temporal['call'] = (work, timeoutMs = defaultTimeoutMs) => attempt(work, timeoutMs);
  const ping = async () => void (await call((temporal) => temporal.workflowService.getSystemInfo({}), pingTimeoutMs));

  return {
    client,
    dataConverter,
    taskQueue: options.taskQueue,
    call,
    async callWorker(work) {
      const over = new AbortController();
      const answered = new AbortController();
      const answer = attempt(work, workerTimeoutMs, over);
      const patience = delay(patienceMs, undefined, { signal: answered.signal }).then(ping).then(() => answer);
      return Promise.race([answer, patience]).finally(() => {
        over.abort();
        answered.abort();
      });
    },
    uiLink(workflowId, runId) {
      const run = runId === undefined ? '' : `/${runId}`;
      return `${options.uiUrl}/namespaces/${options.namespace}/workflows/${encodeURIComponent(workflowId)}${run}`;
    },
    scheduleUiLink: (scheduleId) => `${options.uiUrl}/namespaces/${options.namespace}/schedules/${encodeURIComponent(scheduleId)}`,
    ping,
    close: () => connection.close(),
  };
}

/** A call's own deadline ends each of its attempts, but not the waits between them. */
async function within<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new AppError('unavailable', 'the workflow service does not answer')), timeoutMs);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/**
 * FAILED_PRECONDITION is the answer to a query while no worker polls, or while the worker cannot run the workflow; the last
 * two, to a process whose own credentials are wrong, are no fault of its caller.
 */
const unreachableCodes = new Set<number>([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.RESOURCE_EXHAUSTED,
  status.FAILED_PRECONDITION,
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
]);

function unreachable(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isGrpcServiceError(at)) return unreachableCodes.has(at.code);
    if (at.name === 'WorkflowUpdateRPCTimeoutOrCancelledError') return true;
  }
  return false;
}

export function isWorkflowGone(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError;
}
