import path from 'node:path';
import { readWorkspace, type Workspace } from '../src/seed.js';
import { startStack, StackError } from './index.js';
import { choosePorts } from './ports.js';
import { startProduct, type Product } from './product.js';
import { runSample, type SampleResult } from './sample.js';
import { messageOf } from './stack-error.js';

/** `npm start`: the local stack, the API, the worker, a sample run; Ctrl-C stops all of it. */
const { env } = process;
const log = (line: string): void => void process.stdout.write(`${line}\n`);

interface Places {
  dataDir: string;
  /** The API as this machine reaches it, whatever its public address. */
  apiUrl: string;
}

async function run(signal: AbortSignal): Promise<void> {
  const dataDir = path.resolve(env.DATA_DIR || '.data');
  await workspaceIn(dataDir);
  const ports = await productPorts();
  const stack = await startStack({ dataDir, log, env, signal });
  const apiUrl = `http://127.0.0.1:${ports.PORT}`;
  try {
    const addresses = { BASE_URL: env.BASE_URL || `http://localhost:${ports.PORT}`, ...ports };
    const productEnv = { ...env, HOST: env.HOST || '127.0.0.1', ...stack.environment, DATA_DIR: dataDir, ...addresses };
    const product = await startProduct({ apiUrl, dataDir, env: productEnv, log, signal });
    try {
      await serve({ dataDir, apiUrl }, product, signal);
      log('\nStopping …');
    } finally {
      await product.stop();
    }
  } finally {
    await stack.stop();
  }
}

/** Until the person at the terminal ends it. @throws StackError when a process of the product ended by itself */
async function serve(places: Places, product: Product, signal: AbortSignal): Promise<void> {
  const interrupted = aborted(signal);
  const shown = show(places, signal).then(() => interrupted);
  const lost = await Promise.race([product.lost, interrupted, shown]);
  if (lost !== undefined && !signal.aborted) throw new StackError(lost);
}

async function show({ dataDir, apiUrl }: Places, signal: AbortSignal): Promise<void> {
  const workspace = await workspaceIn(dataDir);
  if (!workspace) {
    log(`\nAPI         ${apiUrl}   (nothing was seeded, so there is no sample: see SEED)\n${farewell}`);
    return;
  }
  const sample = process.argv.includes('--no-sample') ? undefined : await trySample(workspace, apiUrl, signal);
  if (!signal.aborted) log(summary(workspace, path.join(dataDir, 'workspace.json'), sample));
}

/** What fails in the sample is worth a look, and no reason to take down what runs. */
async function trySample(workspace: Workspace, apiUrl: string, signal: AbortSignal): Promise<SampleResult | undefined> {
  log('\nThe sample agentflow runs:');
  const { base_url: baseUrl, project_id: projectId, api_key: apiKey } = workspace;
  try {
    return await runSample({ apiUrl, baseUrl, projectId, apiKey, log, signal });
  } catch (error) {
    if (!signal.aborted) log(`\nThe sample did not get through: ${messageOf(error)}\nEverything else runs.`);
    return undefined;
  }
}

/** @throws StackError when workspace.json is there and cannot be read */
async function workspaceIn(dataDir: string): Promise<Workspace | undefined> {
  return readWorkspace(dataDir).catch((error: unknown) => {
    throw new StackError(`${messageOf(error)}.`, { cause: error });
  });
}

/** The ports of the environment are taken as they are; the usual ones give way when somebody else has them. */
async function productPorts(): Promise<{ PORT: string; DOWNSTREAM_PORT: string }> {
  const fixed = { PORT: portFrom('PORT'), DOWNSTREAM_PORT: portFrom('DOWNSTREAM_PORT') };
  const ports = await choosePorts(['PORT', 'DOWNSTREAM_PORT'] as const, { fixed, preferred: { PORT: 8080, DOWNSTREAM_PORT: 8081 } });
  if (!env.PORT && ports.PORT !== 8080) log(`Port 8080 is in use: the API takes ${ports.PORT}`);
  return { PORT: String(ports.PORT), DOWNSTREAM_PORT: String(ports.DOWNSTREAM_PORT) };
}

function portFrom(name: 'PORT' | 'DOWNSTREAM_PORT'): number | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new StackError(`${name} must be a port number from 0 to 65535.`);
}

const farewell = 'Ctrl-C stops everything; npm start again goes on with the same data.';

function summary(workspace: Workspace, file: string, sample: SampleResult | undefined): string {
  const { base_url, temporal_ui_url, project_id, admin, api_key } = workspace;
  const key = `-H 'x-api-key: ${api_key}'`;
  return [
    '',
    ...(sample ? [sample.conclusion, '', `This run    ${sample.temporalUrl}`] : []),
    `API         ${base_url}   (reference: ${base_url}/docs)`,
    `Temporal UI ${temporal_ui_url}`,
    `Sign in as  ${admin.email} / ${admin.password}`,
    `All of it   ${file}`,
    '',
    'Next:',
    ...(sample ? [`  curl ${key} ${base_url}/execute_flow/${sample.executionId}/monitoring`] : []),
    `  curl ${key} '${base_url}/${project_id}/execution_flows?limit=1'`,
    `  curl ${base_url}/v1/connection-info`,
    '',
    farewell,
  ].join('\n');
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined));
  });
}

const interruption = new AbortController();
process.once('SIGINT', () => interruption.abort());
process.once('SIGTERM', () => interruption.abort());

try {
  await run(interruption.signal);
} catch (error) {
  if (interruption.signal.aborted) process.exit(130);
  process.stderr.write(`${error instanceof StackError ? error.message : String((error as Error).stack)}\n`);
  process.exit(1);
}
