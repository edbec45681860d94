import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect } from '@jest/globals';
import { packageRoot } from '../../src/base/packages.js';
import type { Api } from './processes.js';

export interface Call {
  name: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer | undefined;
  /** The expected status; by default any status below 500. */
  answers?: number;
}

interface LoopMeter {
  /** For the environment of the API process, which is then measured. */
  environment: Record<string, string>;
  /** A function creates the request of each attempt. */
  measure(call: Call | (() => Call)): Promise<void>;
  /** How many calls were measured so far. */
  count(): number;
  /** Expects at least one call since `from`, and that none blocked the event loop. */
  expectNoBlock(from: number): void;
}

/** `EVENT_LOOP_REPORT` names a file to which each figure is appended. */
const report = process.env.EVENT_LOOP_REPORT;
const limitMs = 100;
const triesAtMost = 5;

/** Measures how long calls block the event loop of an API process. */
export function createLoopMeter(api: () => Api): LoopMeter {
  const folder = mkdtempSync(path.join(tmpdir(), 'loop-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'blocks');
  writeFileSync(file, '');
  const measured: { name: string; blocked: number }[] = [];

  const blocks = () => readFileSync(file, 'utf8').split('\n').slice(0, -1).map(Number);
  /** Once a request is answered, the turns before it are recorded. */
  const turn = async () => void (await (await fetch(`${api().url}/healthz`)).text());

  /** The longest event loop turn during the call, in milliseconds. */
  async function blockOf(call: Call): Promise<number> {
    await turn();
    const before = blocks().length;
    const status = await send(api().url, call);
    if (call.answers !== undefined) expect([call.name, status]).toEqual([call.name, call.answers]);
    // 504: the database can take longer than its time limit to plan a text.
    expect([call.name, status >= 500 && status !== 503 && status !== 504]).toEqual([call.name, false]);
    await turn();
    await turn();
    const longest = Math.max(0, ...blocks().slice(before));
    if (report) appendFileSync(report, `${longest.toFixed(0)} ms, ${status}: ${call.name}\n`);
    return longest;
  }

  return {
    environment: {
      NODE_OPTIONS: `--import=${path.join(packageRoot, 'dist/test/support/loop-probe.js')}`,
      LOOP_PROBE_FILE: file,
    },
    /** The shortest block of a few attempts: a real block occurs each time. */
    async measure(call) {
      const measurement = { name: '', blocked: Infinity };
      for (let tries = 0; tries < triesAtMost && measurement.blocked > limitMs; tries += 1) {
        const made = typeof call === 'function' ? call() : call;
        measurement.name = made.name;
        measurement.blocked = Math.min(measurement.blocked, await blockOf(made));
      }
      measured.push(measurement);
    },
    count: () => measured.length,
    expectNoBlock(from) {
      const mine = measured.slice(from);
      expect(mine.length).toBeGreaterThan(0);
      expect(mine.filter(({ blocked }) => blocked > limitMs)).toEqual([]);
    },
  };
}

async function send(url: string, { method, path: target, headers, body }: Call): Promise<number> {
  const signal = AbortSignal.timeout(60_000);
  const init = { method, headers, signal, ...(body === undefined ? {} : { body: body as never }) };
  const response = await fetch(url + target, init).catch((error: unknown) => error as Error);
  if (response instanceof Error) return 0;
  await response.arrayBuffer().catch(() => undefined);
  return response.status;
}
