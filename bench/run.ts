import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { benchActs } from './acts.js';
import { benchAudit } from './audit.js';
import { benchConsole } from './console.js';
import { benchEmbeddingSaves } from './embedding-saves.js';
import { startEnvironment, type BenchEnvironment } from './environment.js';
import { benchExecutions, benchMemory } from './executions.js';
import { benchFairness } from './fairness.js';
import { benchFiles } from './files.js';
import { benchFlowGrowth } from './flow-growth.js';
import { benchGateway } from './gateway.js';
import { benchGuard } from './guard.js';
import type { Figure } from './measure.js';
import { benchCallsOfWork } from './calls-of-work.js';
import { benchCallbacks } from './callbacks.js';
import { benchLeast } from './least.js';
import { benchMcp } from './mcp.js';
import { benchModels } from './models.js';
import { benchOauth } from './oauth.js';
import { benchParts } from './parts.js';
import { benchPeers } from './peers/index.js';
import { benchPlatformWrites } from './platform-writes.js';
import { benchRecordStore } from './record-store.js';
import { benchRecovery } from './recovery.js';
import { benchRetrieval } from './retrieval.js';
import { benchRunCost } from './run-cost.js';
import { benchSchedules } from './schedules.js';
import { benchTables } from './tables.js';

/** `npm run bench [-- name …]` runs these benchmarks, or only the named ones, on the real stack. */
const benches: Record<string, (bench: BenchEnvironment) => Promise<Figure[]>> = {
  executions: benchExecutions,
  'run-cost': benchRunCost,
  'calls-of-work': benchCallsOfWork,
  memory: benchMemory,
  console: benchConsole,
  flow: benchFlowGrowth,
  parts: benchParts,
  acts: benchActs,
  gateway: benchGateway,
  guard: benchGuard,
  audit: benchAudit,
  'record-store': benchRecordStore,
  retrieval: benchRetrieval,
  'embedding-saves': benchEmbeddingSaves,
  oauth: benchOauth,
  mcp: benchMcp,
  callbacks: benchCallbacks,
  models: benchModels,
  files: benchFiles,
  fairness: benchFairness,
  schedules: benchSchedules,
  tables: benchTables,
  least: benchLeast,
  'platform-writes': benchPlatformWrites,
  // Last, because it kills the servers.
  recovery: benchRecovery,
};

/** These install other engines, so they run only if they are named. */
const onDemand: typeof benches = { peers: benchPeers };

const all = { ...benches, ...onDemand };
const requested = process.argv.slice(2);
const names = requested.length > 0 ? requested : Object.keys(benches);
const unknown = names.filter((name) => !(name in all));
if (unknown.length > 0) {
  console.error(`Unknown benchmarks: ${unknown.join(', ')}. Available: ${Object.keys(all).join(', ')}.`);
  process.exit(2);
}

const folder = mkdtempSync(path.join(tmpdir(), 'service-bench-'));
const bench = await startEnvironment(folder);
try {
  for (const name of names) {
    console.log(`\n## ${name}\n\n| what | ours | baseline | ratio | goal |\n|---|---|---|---|---|`);
    for (const { what, unit, ours, baseline, ratio, goal } of (await all[name]?.(bench)) ?? []) {
      console.log(`| ${what} | ${shown(ours)} ${unit} | ${shown(baseline)} ${unit} | ${ratio.toFixed(2)} | ${goal} |`);
    }
  }
} finally {
  await bench.stop();
  rmSync(folder, { recursive: true, force: true });
}

function shown(value: number): string {
  return value < 1 ? value.toFixed(3) : value.toFixed(1);
}
