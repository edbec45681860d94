import { startStack } from './index.js';
import { aborted, runInterruptibly } from './interruption.js';
import { resolveMongodb } from './mongodb.js';
import { resolveNeo4j } from './neo4j.js';
import { resolveTemporal } from './temporal.js';

/** stdout has only the `export` lines, so that a shell can evaluate them. */
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const { env } = process;

async function prepare(signal: AbortSignal): Promise<void> {
  const preparation = { env, log, signal };
  await Promise.all([
    env.TEMPORAL_ADDRESS ? undefined : resolveTemporal(preparation),
    env.MONGODB_URI ? undefined : resolveMongodb(preparation),
    env.NEO4J_URI ? undefined : resolveNeo4j(preparation),
  ]);
}

async function run(interrupted: AbortSignal): Promise<void> {
  const stack = await startStack({ dataDir: env.DATA_DIR || '.data', log, env, signal: interrupted });
  for (const [name, value] of Object.entries(stack.environment)) {
    process.stdout.write(`export ${name}='${value.replaceAll("'", `'\\''`)}'\n`);
  }
  log('The stack is up; Ctrl-C stops it.');
  await aborted(interrupted);
  log('Stopping …');
  await stack.stop();
}

await runInterruptibly(process.argv.includes('--prepare') ? prepare : run);
