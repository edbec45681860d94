import path from 'node:path';
import { Client } from '@temporalio/client';
import type { Grant } from '../src/auth/grants.js';
import { createApiKey } from '../src/auth/api-keys.js';
import { createUser, grantRole } from '../src/auth/users.js';
import { loadConfig } from '../src/config.js';
import { createDeps } from '../src/deps.js';
import { type Deps } from '../src/domain/deps.js';
import { storeProject } from '../src/domain/projects/operations.js';
import { newId } from '../src/base/ids.js';
import { startStack, type Stack } from '../stack/index.js';
import { apiClient, type ApiClient } from '../test/support/client.js';
import { startApi, startScript, startWorker, type Api, type ProductProcess } from '../test/support/processes.js';

/** The real stack, the product's processes and a bare worker, which all benchmarks of a run share. */
export interface BenchEnvironment {
  env: Record<string, string>;
  deps: Deps;
  api: Api;
  worker: ProductProcess;
  services: Stack['services'];
  /** Undefined if the environment names a Neo4j server. */
  neo4jPid: number | undefined;
  /** Undefined if the environment names a MongoDB server. */
  mongodbPid: number | undefined;
  /** The servers that the stack has started, and the processes of the product and of the baselines. */
  pids(): { name: string; pid: number }[];
  bareTaskQueue: string;
  /** The client for bare workflows. It does not encrypt, because the bare worker has no keys. */
  bareClient: Client;
  /** Starts another API process, whose quota admits one call per project and hour. */
  limitedApi(): Promise<Api>;
  /** Creates a project, and a client with its key. The key of an owner has the default grants. */
  workspace(grants?: readonly Grant[]): Promise<BenchWorkspace>;
  /** Creates the owner of a new workspace. */
  person(): Promise<BenchPerson>;
  stop(): Promise<void>;
}

interface BenchWorkspace {
  api: ApiClient;
  apiKey: string;
  projectID: string;
  organizationId: string;
  userId: string;
}

export interface BenchPerson extends BenchWorkspace {
  email: string;
  password: string;
}

/** @param more additional environment variables of the product */
export async function startEnvironment(folder: string, more: Record<string, string> = {}): Promise<BenchEnvironment> {
  const stack = await startStack({
    dataDir: path.join(folder, 'stack'),
    log: (line) => console.error(line),
    // The local stack limits the Java compilers to start quickly. Servers that run for long use all of them.
    env: { ...process.env, _JAVA_OPTIONS: '-XX:TieredStopAtLevel=4' },
  });
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
  const [api, worker, bare] = processes;
  const started: ProductProcess[] = [];
  const deps = createDeps(loadConfig(env), 'test');
  const { collections } = deps.mongo;

  async function workspace(grants?: readonly Grant[]): Promise<BenchWorkspace> {
    const [org_id, dept_id, project_id, user_id] = [newId(), newId(), newId(), newId()];
    const ids = { _id: project_id, organization_id: org_id, department_id: dept_id, user_id };
    await storeProject(collections, { ...ids, name: `bench ${project_id}` });
    const scope = { org_id, dept_id, project_id, user_id, role: 'OWNER', ...(grants && { grants }) };
    const { secret } = await createApiKey(collections, { name: 'bench', createdBy: user_id, scope });
    const client = apiClient(api.url, { 'x-api-key': secret });
    return { api: client, projectID: project_id, apiKey: secret, organizationId: org_id, userId: user_id };
  }

  return {
    env,
    deps,
    api,
    worker,
    services: stack.services,
    neo4jPid: stack.services.neo4j.pid,
    mongodbPid: stack.services.mongodb.pid,
    pids: () =>
      Object.entries({
        temporal: stack.services.temporal.pid,
        mongodb: stack.services.mongodb.pid,
        neo4j: stack.services.neo4j.pid,
        api: api.child.pid,
        worker: worker.child.pid,
        bare: bare.child.pid,
      }).flatMap(([name, pid]) => (pid === undefined ? [] : [{ name, pid }])),
    bareTaskQueue,
    bareClient: new Client({ connection: deps.temporal.client.connection, namespace: deps.config.temporal.namespace }),
    async limitedApi() {
      const limits = { QUOTA_PROJECT_MAX: '1', QUOTA_WINDOW_SECONDS: '3600' };
      const limited = await startApi({ ...env, ...limits }, path.join(folder, 'limited.log'));
      started.push(limited);
      return limited;
    },
    workspace,
    async person() {
      const owned = await workspace();
      const { userId, organizationId } = owned;
      const [email, password] = [`${userId}@example.com`, `password of ${userId}`];
      await createUser(collections, { id: userId, email, name: 'Bench', password, organizationId });
      await grantRole(collections, { userId, organizationId, projectId: null, role: 'OWNER' });
      return { ...owned, email, password };
    },
    async stop() {
      await deps.close();
      await Promise.all([...processes, ...started].map((process) => process.end()));
      await stack.stop();
    },
  };
}
