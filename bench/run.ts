import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { measureAppends, measureVerifier } from './audit.js';
import { startEnvironment, type BenchEnvironment } from './environment.js';
import { benchExecutions, benchMemory } from './executions.js';
import { benchFiles } from './files.js';
import { benchFlowGrowth } from './flow-growth.js';
import { benchGateway } from './gateway.js';
import { measureGuard } from './guard.js';
import { figure, type Figure } from './measure.js';
import { benchCallbacks } from './callbacks.js';
import { benchMcp } from './mcp.js';
import { benchModels } from './models.js';
import { benchOauth } from './oauth.js';
import { benchRetrieval } from './retrieval.js';
import { benchSchedules } from './schedules.js';
import { benchTables } from './tables.js';

/** `npm run bench [-- name …]`: every benchmark, or those named, in one run on the real stack. */
const benches: Record<string, (bench: BenchEnvironment) => Promise<Figure[]>> = {
  executions: benchExecutions,
  memory: benchMemory,
  flow: benchFlowGrowth,
  gateway: benchGateway,
  guard: async () => benchGuard(),
  audit: benchAudit,
  retrieval: benchRetrieval,
  oauth: benchOauth,
  mcp: benchMcp,
  callbacks: benchCallbacks,
  models: async () => benchModels(),
  files: benchFiles,
  schedules: benchSchedules,
  tables: benchTables,
};

async function benchAudit({ env }: BenchEnvironment): Promise<Figure[]> {
  const { chained, bare, bareInGroups } = await measureAppends({ uri: env.MONGODB_URI ?? '' });
  return [
    figure('audit appends of two processes against bare inserts, one by one', '1/s', chained, bare, 'at least 0.6'),
    figure('audit appends against bare inserts in the same groups', '1/s', chained, bareInGroups, 'none set'),
    figure('audit entries verified', '1/s', measureVerifier().entriesPerSecond, 50_000, 'at least 1'),
  ];
}

/** Milliseconds against the goal's: the guard has no baseline. */
function benchGuard(): Figure[] {
  return measureGuard().flatMap(({ characters, firstSightMs, cachedMs }) => [
    figure(`guard at first sight, ${characters} characters, against the goal for 2,000`, 'ms', firstSightMs.median, 8, 'at most 1 for 2,000'),
    figure(`guard when seen before, ${characters} characters`, 'ms', cachedMs.median, 0.2, 'at most 1'),
  ]);
}

const asked = process.argv.slice(2);
const names = asked.length > 0 ? asked : Object.keys(benches);
const unknown = names.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`No such benchmark: ${unknown.join(', ')}. There are: ${Object.keys(benches).join(', ')}.`);
  process.exit(2);
}

const folder = mkdtempSync(path.join(tmpdir(), 'service-bench-'));
const bench = await startEnvironment(folder);
try {
  for (const name of names) {
    console.log(`\n## ${name}\n\n| what | ours | baseline | ratio | goal |\n|---|---|---|---|---|`);
    for (const { what, unit, ours, baseline, ratio, goal } of (await benches[name]?.(bench)) ?? []) {
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
