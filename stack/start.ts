import path from 'node:path';
import { readWorkspace, type Workspace } from '../src/domain/workspace/record.js';
import { approvalText, holdSample, type HeldSample } from './held-sample.js';
import { startStack, StackError } from './index.js';
import { aborted, runInterruptibly } from './interruption.js';
import { choosePorts } from './ports.js';
import { startProduct, type Product } from './product.js';
import { runSample, type SampleResult } from './sample.js';
import type { SampleOptions } from './sample-api.js';
import { messageOf } from './stack-error.js';
import { publishTemplates } from './templates.js';

/** `npm start`: starts the local stack, the API and the worker, and runs the samples. Ctrl-C stops everything. */
const { env } = process;
const log = (line: string): void => void process.stdout.write(`${line}\n`);

interface Places {
  dataDir: string;
  /** The local address of the API, independent of its public address. */
  apiUrl: string;
  /** The public address, which users open. */
  baseUrl: string;
}

async function run(signal: AbortSignal): Promise<void> {
  const dataDir = path.resolve(env.DATA_DIR || '.data');
  await workspaceIn(dataDir);
  const PORT = await productPort();
  const baseUrl = env.BASE_URL || `http://localhost:${PORT}`;
  const stack = await startStack({ dataDir, log, env, codecEndpoint: `${baseUrl}/temporal/codec`, signal });
  const apiUrl = `http://127.0.0.1:${PORT}`;
  try {
    const addresses = { BASE_URL: baseUrl, PORT };
    const productEnv = { ...env, HOST: env.HOST || '127.0.0.1', ...stack.environment, DATA_DIR: dataDir, ...addresses };
    const product = await startProduct({ apiUrl, dataDir, env: productEnv, log, signal });
    try {
      await serve({ dataDir, apiUrl, baseUrl }, product, signal);
      log('\nStopping …');
    } finally {
      await product.stop();
    }
  } finally {
    await stack.stop();
  }
}

/** Runs until the user stops it. @throws StackError if a process of the product ended unexpectedly */
async function serve(places: Places, product: Product, signal: AbortSignal): Promise<void> {
  const interrupted = aborted(signal);
  const shown = show(places, signal).then(() => interrupted);
  const lost = await Promise.race([product.lost, interrupted, shown]);
  if (lost !== undefined && !signal.aborted) throw new StackError(lost);
}

async function show({ dataDir, apiUrl, baseUrl }: Places, signal: AbortSignal): Promise<void> {
  const workspace = await workspaceIn(dataDir);
  if (!workspace) {
    log(`\nAPI         ${baseUrl}   (nothing was seeded, so there is no sample: see SEED)\n${farewell}`);
    return;
  }
  const options = { apiUrl, workspace, log, signal };
  await attempt('Publishing the templates', () => publishTemplates(options), options);
  const samples = process.argv.includes('--no-sample') ? {} : await trySamples(options);
  if (!signal.aborted) log(summary(workspace, path.join(dataDir, 'workspace.json'), samples));
}

interface Samples {
  ended?: SampleResult | undefined;
  held?: HeldSample | undefined;
}

async function trySamples(options: SampleOptions): Promise<Samples> {
  log('\nThe sample agentflow runs:');
  const [ended, held] = await Promise.all([
    attempt('The sample', () => runSample(options), options),
    attempt('The second sample', () => holdSample(options), options),
  ]);
  return { ended, held };
}

/** A failure of a sample or a template must not stop the product. */
async function attempt<T>(what: string, work: () => Promise<T>, { signal }: SampleOptions): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted) log(`\n${what} could not be completed: ${messageOf(error)}\nEverything else runs.`);
    return undefined;
  }
}

/** @throws StackError if workspace.json exists but cannot be read */
async function workspaceIn(dataDir: string): Promise<Workspace | undefined> {
  return readWorkspace(dataDir).catch((error: unknown) => {
    throw new StackError(`${messageOf(error)}.`, { cause: error });
  });
}

/**
 * Uses the port from the environment. The default port may be replaced if it is in use. The API chooses its downstream
 * port itself: a port that is chosen here could be taken before the API listens.
 */
async function productPort(): Promise<string> {
  const fixed = { PORT: portFromEnvironment() };
  const { PORT } = await choosePorts(['PORT'] as const, { fixed, preferred: { PORT: 8080 } });
  if (!env.PORT && PORT !== 8080) log(`Port 8080 is in use: the API takes ${PORT}`);
  return String(PORT);
}

function portFromEnvironment(): number | undefined {
  const text = env.PORT;
  if (!text) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new StackError('PORT must be a port number from 0 to 65535.');
}

const farewell = 'Ctrl-C stops everything. Run npm start again to continue with the same data.';

function summary(workspace: Workspace, file: string, { ended, held }: Samples): string {
  const { base_url, temporal_ui_url, project_id, admin, api_key } = workspace;
  const key = `-H 'x-api-key: ${api_key}'`;
  return [
    '',
    ...(ended ? [ended.conclusion, '', `This run    ${ended.temporalUrl}`] : []),
    `API         ${base_url}   (reference: ${base_url}/docs)`,
    `Console     ${base_url}/console`,
    `Temporal UI ${temporal_ui_url}`,
    `Sign in as  ${admin.email} / ${admin.password}`,
    `All of it   ${file}`,
    '',
    'Next:',
    ...(ended ? [`  curl ${key} ${base_url}/execute_flow/${ended.executionId}/monitoring`] : []),
    `  curl ${key} '${base_url}/${project_id}/execution_flows?limit=1'`,
    `  curl ${base_url}/v1/connection-info`,
    '',
    ...(held ? [...approvalText(workspace, held), ''] : []),
    farewell,
  ].join('\n');
}

await runInterruptibly(run);
