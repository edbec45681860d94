import { accessSync, constants } from 'node:fs';
import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';

const file = z.string().refine(isReadable, 'names a file that cannot be read');
const atLeast = (least: number) => z.coerce.number().int().min(least);

/**
 * What is read about Temporal. The first group is Temporal's own environment configuration, read by its package; it is
 * checked here, since the package takes a word that it does not know for "off" and half a client certificate for none.
 */
export const temporalVariables = {
  TEMPORAL_ADDRESS: z.string().optional(),
  TEMPORAL_NAMESPACE: z.string().default('default'),
  TEMPORAL_API_KEY: z.string().regex(/^\S+$/, 'holds white space').optional(),
  TEMPORAL_TLS: z.enum(['true', 'false', '1', '0']).optional(),
  TEMPORAL_TLS_SERVER_NAME: z.string().optional(),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: file.optional(),
  TEMPORAL_TLS_SERVER_CA_CERT_DATA: z.string().optional(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: file.optional(),
  TEMPORAL_TLS_CLIENT_CERT_DATA: z.string().optional(),
  TEMPORAL_TLS_CLIENT_KEY_PATH: file.optional(),
  TEMPORAL_TLS_CLIENT_KEY_DATA: z.string().optional(),
  TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: z.enum(['false', '0'], { error: 'is not supported: name the authority or the server instead' }).optional(),

  TEMPORAL_UI_URL: z.url().default('http://localhost:8233'),
  TEMPORAL_TASK_QUEUE: z.string().default('workflow-platform'),

  // Named as Temporal's worker controller for Kubernetes sets them.
  TEMPORAL_DEPLOYMENT_NAME: z.string().optional(),
  TEMPORAL_WORKER_BUILD_ID: z.string().optional(),
  // Below two of either the SDK has none for the runs that it keeps in memory.
  WORKER_MAX_WORKFLOW_TASKS: atLeast(2).default(100),
  WORKER_MAX_ACTIVITIES: atLeast(1).default(100),
  WORKER_MAX_POLLERS: atLeast(2).optional(),
  WORKER_MAX_CACHED_WORKFLOWS: atLeast(0).optional(),
};
type TemporalEnvironment = z.infer<z.ZodObject<typeof temporalVariables>>;

/** Variables of which each needs the other, or of which only one may be there. */
const pairs = [
  { one: 'TEMPORAL_DEPLOYMENT_NAME', other: 'TEMPORAL_WORKER_BUILD_ID' },
  { one: 'TEMPORAL_TLS_CLIENT_CERT_PATH', other: 'TEMPORAL_TLS_CLIENT_KEY_PATH' },
  { one: 'TEMPORAL_TLS_CLIENT_CERT_DATA', other: 'TEMPORAL_TLS_CLIENT_KEY_DATA' },
] as const;
const alternatives = ['TEMPORAL_TLS_SERVER_CA_CERT', 'TEMPORAL_TLS_CLIENT_CERT', 'TEMPORAL_TLS_CLIENT_KEY'] as const;

/** For `superRefine`: what is wrong between variables, each on its own. */
export function checkTemporal(env: TemporalEnvironment, context: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void }): void {
  for (const { one, other } of pairs) {
    if ((env[one] === undefined) === (env[other] === undefined)) continue;
    const [missing, given] = env[one] === undefined ? [one, other] : [other, one];
    context.addIssue({ code: 'custom', path: [missing], message: `is needed with ${given}` });
  }
  for (const name of alternatives) {
    if (env[`${name}_PATH`] === undefined || env[`${name}_DATA`] === undefined) continue;
    context.addIssue({ code: 'custom', path: [`${name}_DATA`], message: `cannot be given beside ${name}_PATH` });
  }
}

export interface TemporalConfig {
  /** Address, TLS and mTLS, API key; for the client of the API and for the worker alike. */
  connection: ClientConnectConfig['connectionOptions'];
  namespace: string;
  uiUrl: string;
  taskQueue: string;
}

/** `present` is the environment without its empty values. */
export function temporalOf(env: TemporalEnvironment, present: Record<string, string>): TemporalConfig {
  const { connectionOptions } = loadClientConnectConfig({ disableFile: true, overrideEnvVars: present });
  return {
    connection: { ...connectionOptions, address: env.TEMPORAL_ADDRESS ?? 'localhost:7233' },
    namespace: env.TEMPORAL_NAMESPACE,
    uiUrl: env.TEMPORAL_UI_URL.replace(/\/+$/, ''),
    taskQueue: env.TEMPORAL_TASK_QUEUE,
  };
}

/** What one worker process takes on. */
export interface WorkerConfig {
  workflowTasks: number;
  activities: number;
  /** Most polls at once of each kind, as many as are needed; undefined: always ten. */
  pollers: number | undefined;
  /** Runs that are kept in memory; undefined: by the size of the heap. */
  cachedWorkflows: number | undefined;
  /** The Worker Deployment Version; undefined: the worker is not versioned. */
  version: { deploymentName: string; buildId: string } | undefined;
}

export function workerOf(env: TemporalEnvironment): WorkerConfig {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = env;
  return {
    workflowTasks: env.WORKER_MAX_WORKFLOW_TASKS,
    activities: env.WORKER_MAX_ACTIVITIES,
    pollers: env.WORKER_MAX_POLLERS,
    cachedWorkflows: env.WORKER_MAX_CACHED_WORKFLOWS,
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
