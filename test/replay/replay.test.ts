import { describe, expect, test } from '@jest/globals';
import { builtinModules } from 'node:module';
import { readFile } from 'node:fs/promises';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  Runtime,
  Worker,
  type ReplayHistoriesIterable,
  type ReplayWorkerOptions,
} from '@temporalio/worker';
import { workflowBundle } from '../../src/workflow-code.js';
import * as workflows from '../../workflows/index.js';
import { useDeps } from '../support/fixture.js';
import { savedHistories, type HistoryJson, type SavedHistory } from '../support/histories.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const histories = savedHistories();
const logger = new DefaultLogger('ERROR');
Runtime.install({ logger, telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } } });
const sinks = { tracing: { runEnded: { fn: () => undefined } } };
// Saved histories are decrypted, so they need no codec.
const { payloadConverterPath } = deps.temporal.workerDataConverter;
const options: ReplayWorkerOptions = { workflowBundle, dataConverter: { payloadConverterPath }, sinks };

/** One worker replays them all: each worker evaluates the whole bundle. */
async function outcomesOf(saved: readonly SavedHistory[]): Promise<[string, string][]> {
  const outcomes: [string, string][] = [];
  const replays = saved.map(({ workflowId, history }) => ({ workflowId, history }));
  const names = new Map(saved.map(({ name, workflowId }) => [workflowId, name]));
  for await (const { workflowId, error } of Worker.runReplayHistories(options, replays as ReplayHistoriesIterable))
    outcomes.push([names.get(workflowId) ?? workflowId, error?.message ?? 'replayed']);
  return outcomes;
}

describe('the workflow bundle', () => {
  test('contains only the workflows and their allowed packages', async () => {
    verifies('project.workflow-bundle');
    const code = await readFile(workflowBundle.codePath, 'utf8');
    const inlined = /sourceMappingURL=data:[^,]*base64,([A-Za-z0-9+/=]+)/.exec(code)?.[1] ?? '';
    const { sources } = JSON.parse(Buffer.from(inlined, 'base64').toString()) as { sources: string[] };
    const own = sources.filter((source) => !source.includes('node_modules') && /\.(js|ts)$/.test(source));
    expect(own.filter((source) => !/workflows\//.test(source))).toEqual([]);
    const packages = new Set(
      sources.map((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1]).filter(Boolean),
    );
    const allowed = [
      '@temporalio/workflow',
      '@temporalio/common',
      '@temporalio/worker',
      'zod',
      '@marcbachmann/cel-js',
      'long',
      'ms',
      'nexus-rpc',
      'assert',
      'url',
      'util',
    ];
    expect([...packages].filter((name) => !allowed.includes(name ?? ''))).toEqual([]);
    const imported = [...code.matchAll(/require\("([a-z_/:]+)"\)/g)].map(([, name]) =>
      (name ?? '').replace(/^node:/, ''),
    );
    expect(imported.filter((name) => builtinModules.includes(name))).toEqual([]);
  });
});

describe('saved histories', () => {
  test('exist for every workflow type', () => {
    verifies('durability.replay');
    const types = new Set(histories.map(({ workflowType }) => workflowType));
    expect([...types].sort()).toEqual(Object.keys(workflows).sort());
  });

  test('replay on the current code', async () => {
    verifies('durability.replay');
    expect(await outcomesOf(histories)).toEqual(histories.map(({ name }) => [name, 'replayed']));
  });

  test('do not replay on a workflow with other behaviour', async () => {
    verifies('durability.replay');
    const saved = histories.find(({ name }) => name === 'agentflow-execution');
    if (!saved) throw new Error('there is no history');
    const history = JSON.parse(JSON.stringify(saved.history).replaceAll('"callAction"', '"another"')) as HistoryJson;
    expect(await outcomesOf([{ ...saved, history }])).toEqual([[saved.name, expect.stringContaining('another')]]);
  });
});
