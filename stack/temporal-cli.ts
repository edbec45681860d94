import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { resolveTemporal } from './temporal.js';

/** `npm run temporal -- …`: runs the Temporal command line against the local stack. */
const { env } = process;
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const workspace = JSON.parse(readFileSync(path.join(env.DATA_DIR || '.data', 'workspace.json'), 'utf8')) as {
  temporal_address: string;
};
const command = await resolveTemporal({ env, log });
const { status } = spawnSync(command, process.argv.slice(2), {
  stdio: 'inherit',
  env: { TEMPORAL_ADDRESS: workspace.temporal_address, ...env },
});
process.exitCode = status ?? 1;
