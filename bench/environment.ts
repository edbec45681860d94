import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@temporalio/client';
import { createApiKey } from '../src/auth/api-keys.js';
import { loadConfig } from '../src/config.js';
import { createDeps } from '../src/deps.js';
import { type Deps } from '../src/domain/deps.js';
import { newId } from '../src/ids.js';
import { startStack } from '../stack/index.js';
import { apiClient, type ApiClient } from '../test/support/client.js';
import { startApi, startScript, startWorker, type Api, type ProductProcess } from '../test/support/processes.js';

/** The real stack, the product's processes and a bare worker, which all benchmarks of a run share. */
export interface BenchEnvironment {
  env: Record<string, string>;
  deps: Deps;
  api: Api;
  worker: ProductProcess;
  /** Undefined if the environment names a Neo4j server. */
  neo4jPid: number | undefined;
  bareTaskQueue: string;
  /** The client for bare workflows. It does not encrypt, because the bare worker has no keys. */
  bareClient: Client;
  /** Starts another API process, whose quota admits one call per project and hour. */
  limitedApi(): Promise<Api>;
  /** Creates a workspace, and a client with its key. */
  workspace(): Promise<{ api: ApiClient; projectID: string; apiKey: string; organizationId: string }>;
  stop(): Promise<void>;
}

/** @param more additional environment variables of the product */
export async function startEnvironment(folder: string, more: Record<string, string> = {}): Promise<BenchEnvironment> {
  const stack = await startStack({ dataDir: path.join(folder, 'stack'), log: (line) => console.error(line) });
  const run = newId();
  const env = {
    ...stack.environment,
    TEMPORAL_TASK_QUEUE: `bench-${run}`,
    DATA_DIR: path.join(folder, 'data'),
    LOG_LEVEL: 'info',
    HOST: '127.0.0.1',
    PORT: '0',
    ALLOW_PRIVATE_TARGETS: 'true',
    SEED: 'false',
    QUOTA_PROJECT_MAX: '0',
    QUOTA_ORG_MAX: '0',
    PLATFORM_RATE_MAX: '0',
    PLATFORM_RATE_ORG_MAX: '0',
    // As in production. The tests check each response against its schema.
    VERIFY_RESPONSES: 'false',
    ...more,
  };
  const bareTaskQueue = `bare-${run}`;
  const processes = await Promise.all([
    startApi(env, path.join(folder, 'api.log')),
    startWorker(env, path.join(folder, 'worker.log')),
    startScript(
      'bench/bare/worker.js',
      { ...env, TEMPORAL_TASK_QUEUE: bareTaskQueue },
      path.join(folder, 'bare.log'),
      'polling',
    ),
  ]);
  const [api, worker] = processes;
  const started: ProductProcess[] = [];
  const deps = createDeps(loadConfig(env), 'test');
  const { client } = deps.temporal;
  return {
    env,
    deps,
    api,
    worker,
    neo4jPid: stack.services.neo4j.pid,
    bareTaskQueue,
    bareClient: new Client({ connection: client.connection, namespace: client.options.namespace }),
    async limitedApi() {
      const limits = { QUOTA_PROJECT_MAX: '1', QUOTA_WINDOW_SECONDS: '3600' };
      const limited = await startApi({ ...env, ...limits }, path.join(folder, 'limited.log'));
      started.push(limited);
      return limited;
    },
    async workspace() {
      const [org_id, dept_id, project_id, user_id] = [newId(), newId(), newId(), newId()];
      const scope = { org_id, dept_id, project_id, user_id, role: 'OWNER' };
      const { secret } = await createApiKey(deps.mongo.collections, { name: 'bench', createdBy: user_id, scope });
      return {
        api: apiClient(api.url, { 'x-api-key': secret }),
        projectID: project_id,
        apiKey: secret,
        organizationId: org_id,
      };
    },
    async stop() {
      await deps.close();
      await Promise.all([...processes, ...started].map((process) => process.end()));
      await stack.stop();
    },
  };
}

/** Returns the processor time of a process in milliseconds (Linux: proc(5), ticks of 10 ms). */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Returns the resident memory of a process in MiB (Linux: VmRSS of proc(5)). */
export function residentMiB(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? Number.NaN) / 1024;
}
