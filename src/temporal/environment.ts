import { accessSync, constants } from 'node:fs';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';
import { queueKinds, type QueueKind } from '../../workflows/queues/queues.js';
import { withoutTrailing } from '../base/text.js';

const file = z.string().refine(isReadable, 'names a file that cannot be read');
const atLeast = (least: number) => z.coerce.number().int().min(least);

/**
 * The environment variables for Temporal. The Temporal package reads the first group. They are validated here, because
 * the package treats an unknown word as "off" and ignores an incomplete client certificate.
 */
export const temporalVariables = {
  TEMPORAL_ADDRESS: z.string().optional(),
  TEMPORAL_NAMESPACE: z.string().default('default'),
  TEMPORAL_API_KEY: z.string().regex(/^\S+$/, 'contains white space').optional(),
  TEMPORAL_TLS: z.enum(['true', 'false', '1', '0']).optional(),
  TEMPORAL_TLS_SERVER_NAME: z.string().optional(),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: file.optional(),
  TEMPORAL_TLS_SERVER_CA_CERT_DATA: z.string().optional(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: file.optional(),
  TEMPORAL_TLS_CLIENT_CERT_DATA: z.string().optional(),
  TEMPORAL_TLS_CLIENT_KEY_PATH: file.optional(),
  TEMPORAL_TLS_CLIENT_KEY_DATA: z.string().optional(),
  TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: z
    .enum(['false', '0'], { error: 'is not supported: name the authority or the server instead' })
    .optional(),

  TEMPORAL_UI_URL: z.url().default('http://localhost:8233'),
  TEMPORAL_TASK_QUEUE: z.string().default('workflow-platform'),

  // The worker controller of Temporal for Kubernetes sets these names.
  TEMPORAL_DEPLOYMENT_NAME: z.string().optional(),
  TEMPORAL_WORKER_BUILD_ID: z.string().optional(),
  // With fewer than two of either, the SDK has no slot left for runs that it keeps in memory.
  WORKER_MAX_WORKFLOW_TASKS: atLeast(2).default(20),
  WORKER_MAX_ACTIVITIES: atLeast(1).default(300),
  WORKER_MAX_POLLERS: atLeast(2).optional(),
  WORKER_MAX_CACHED_WORKFLOWS: atLeast(0).optional(),
  WORKER_QUEUES: z
    .string()
    .default(queueKinds.join(','))
    .transform((text) => text.split(',').map((name) => name.trim()))
    .pipe(z.array(z.enum(queueKinds)).nonempty()),
  WORKER_STEPS_PER_SECOND: z.coerce.number().positive().optional(),
  WORKER_BULK_PER_SECOND: z.coerce.number().positive().optional(),
};
/** Activities wait for their turn in the worker, because Temporal does not know which organizations its slots serve. */
const presentPerRunning = 10;

type TemporalEnvironment = z.infer<z.ZodObject<typeof temporalVariables>>;

/** Pairs of variables that require each other, and variables of which only one form is allowed. */
const pairs = [
  { one: 'TEMPORAL_DEPLOYMENT_NAME', other: 'TEMPORAL_WORKER_BUILD_ID' },
  { one: 'TEMPORAL_TLS_CLIENT_CERT_PATH', other: 'TEMPORAL_TLS_CLIENT_KEY_PATH' },
  { one: 'TEMPORAL_TLS_CLIENT_CERT_DATA', other: 'TEMPORAL_TLS_CLIENT_KEY_DATA' },
] as const;
const alternatives = ['TEMPORAL_TLS_SERVER_CA_CERT', 'TEMPORAL_TLS_CLIENT_CERT', 'TEMPORAL_TLS_CLIENT_KEY'] as const;

/** Reports conflicts between variables, for `superRefine`. */
export function checkTemporal(
  env: TemporalEnvironment,
  context: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void },
): void {
  for (const { one, other } of pairs) {
    if ((env[one] === undefined) === (env[other] === undefined)) continue;
    const [missing, present] = env[one] === undefined ? [one, other] : [other, one];
    context.addIssue({ code: 'custom', path: [missing], message: `is needed with ${present}` });
  }
  for (const name of alternatives) {
    if (env[`${name}_PATH`] === undefined || env[`${name}_DATA`] === undefined) continue;
    context.addIssue({ code: 'custom', path: [`${name}_DATA`], message: `cannot be given together with ${name}_PATH` });
  }
}

export type TemporalConfig = ReturnType<typeof temporalOf>;

/**
 * Reads the configuration.
 * @param present the environment without empty values
 */
export function temporalOf(env: TemporalEnvironment, present: Record<string, string>) {
  const { connectionOptions } = loadClientConnectConfig({ disableFile: true, overrideEnvVars: present });
  return {
    /** The address, TLS, mTLS and the API key, which the API client and the worker use. */
    connection: { ...connectionOptions, address: env.TEMPORAL_ADDRESS ?? 'localhost:7233' },
    namespace: env.TEMPORAL_NAMESPACE,
    uiUrl: withoutTrailing(env.TEMPORAL_UI_URL, '/'),
    /** The task queue of the workflows. `queueName` derives the others from it. */
    taskQueue: env.TEMPORAL_TASK_QUEUE,
  };
}

export type WorkerConfig = ReturnType<typeof workerOf>;

/** The queues and limits of one worker process. */
export function workerOf(env: TemporalEnvironment) {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = env;
  const perSecond: Partial<Record<QueueKind, number | undefined>> = {
    steps: env.WORKER_STEPS_PER_SECOND,
    bulk: env.WORKER_BULK_PER_SECOND,
  };
  return {
    queues: [...new Set(env.WORKER_QUEUES)],
    /** The maximum number of activities that all workers together start per second, by queue. Undefined: no limit. */
    perSecond,
    workflowTasks: env.WORKER_MAX_WORKFLOW_TASKS,
    /** The maximum number of activities per queue that run at once. */
    activities: env.WORKER_MAX_ACTIVITIES,
    /** The maximum number of activities per queue that run, wait for their turn or wait for a person. */
    activitiesPresent: env.WORKER_MAX_ACTIVITIES * presentPerRunning,
    /** The maximum number of concurrent polls of each kind, scaled by demand. Undefined: always ten. */
    pollers: env.WORKER_MAX_POLLERS,
    /** The number of runs to keep in memory. Undefined: depends on the heap size. */
    cachedWorkflows: env.WORKER_MAX_CACHED_WORKFLOWS,
    /** The Worker Deployment Version. Undefined: the worker is not versioned. */
    version: deploymentName === undefined || buildId === undefined ? undefined : { deploymentName, buildId },
  };
}

function isReadable(name: string): boolean {
  try {
    accessSync(name, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
