import { readFileSync } from 'node:fs';
import path from 'node:path';
import { startStack, StackError } from './index.js';
import { choosePorts } from './ports.js';
import { startProduct } from './product.js';
import { runSample, type SampleResult } from './sample.js';

/** `npm start`: the local stack, the API, the worker, a sample run; Ctrl-C stops all of it. */
const { env } = process;
const log = (line: string): void => void process.stdout.write(`${line}\n`);

interface Workspace {
  base_url: string;
  temporal_ui_url: string;
  project_id: string;
  admin: { email: string; password: string };
  api_key: string;
}

async function run(interrupted: AbortSignal): Promise<void> {
  const dataDir = path.resolve(env.DATA_DIR || '.data');
  const stack = await startStack({ dataDir, log, env, signal: interrupted });
  try {
    const ports = await productPorts();
    const baseUrl = env.BASE_URL || `http://localhost:${ports.PORT}`;
    const productEnv = { HOST: '127.0.0.1', ...env, ...stack.environment, DATA_DIR: dataDir, BASE_URL: baseUrl, ...ports };
    const product = await startProduct({ baseUrl: `http://127.0.0.1:${ports.PORT}`, dataDir, env: productEnv, log });
    try {
      const workspace = JSON.parse(readFileSync(path.join(dataDir, 'workspace.json'), 'utf8')) as Workspace;
      const sample = process.argv.includes('--no-sample') ? undefined : await sampleOf(workspace);
      log(summary(workspace, path.join(dataDir, 'workspace.json'), sample));
      const lost = await Promise.race([product.lost, once(interrupted)]);
      if (lost !== undefined) throw new StackError(lost);
      log('\nStopping …');
    } finally {
      await product.stop();
    }
  } finally {
    await stack.stop();
  }
}

async function sampleOf({ base_url, project_id, api_key }: Workspace): Promise<SampleResult> {
  log('\nThe sample agentflow runs:');
  return runSample({ baseUrl: base_url, projectId: project_id, apiKey: api_key, log });
}

/** The ports of the environment are taken as they are; the usual ones give way when somebody else has them. */
async function productPorts(): Promise<{ PORT: string; DOWNSTREAM_PORT: string }> {
  const fixed = { ...(env.PORT && { PORT: Number(env.PORT) }), ...(env.DOWNSTREAM_PORT && { DOWNSTREAM_PORT: Number(env.DOWNSTREAM_PORT) }) };
  const ports = await choosePorts(['PORT', 'DOWNSTREAM_PORT'] as const, { fixed, preferred: { PORT: 8080, DOWNSTREAM_PORT: 8081 } });
  return { PORT: String(ports.PORT), DOWNSTREAM_PORT: String(ports.DOWNSTREAM_PORT) };
}

function summary({ base_url, temporal_ui_url, project_id, admin, api_key }: Workspace, file: string, sample: SampleResult | undefined): string {
  const key = `-H 'x-api-key: ${api_key}'`;
  const ran = sample && [`\n${sample.conclusion}\n`, `This run    ${sample.temporalUrl}`];
  return [
    ...(ran ?? ['']),
    `API         ${base_url}   (reference: ${base_url}/docs)`,
    `Temporal UI ${temporal_ui_url}`,
    `Sign in as  ${admin.email} / ${admin.password}`,
    `All of it   ${file}`,
    '',
    'Next:',
    `  curl ${key} '${base_url}/${project_id}/execution_flows?limit=1'`,
    ...(sample ? [`  curl ${key} ${base_url}/execute_flow/${sample.executionId}/monitoring`] : []),
    `  curl ${base_url}/v1/connection-info`,
    '',
    'Ctrl-C stops everything; npm start again goes on with the same data.',
  ].join('\n');
}

function once(signal: AbortSignal): Promise<undefined> {
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
