import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../support/eventually.js';
import { metricsOf } from '../../support/metrics.js';
import type { Lasting } from './fleet.js';

/** Readings of one process in MiB, in chronological order. */
export interface Memory {
  name: string;
  resident: number[];
  heap: number[];
}

/**
 * Samples until the signal. The resident size includes native code and workflow threads, which the heap size does not.
 */
export async function sampleMemory(
  processes: readonly Lasting[],
  everyMs: number,
  until: AbortSignal,
): Promise<Memory[]> {
  const sampled = processes.map((process): { process: Lasting; memory: Memory } => ({
    process,
    memory: { name: process.name, resident: [], heap: [] },
  }));
  while (!until.aborted) {
    for (const { process, memory } of sampled) {
      memory.resident.push(residentMiB(process.pid));
      memory.heap.push(await eventually(() => heapMiB(process.metricsUrl)));
    }
    await delay(everyMs);
  }
  return sampled.map(({ memory }) => memory);
}

export interface Level {
  /** The memory after garbage collections: a tenth of the readings is lower. */
  floor: number;
  median: number;
}

/** The middle and the last third. The first third is omitted, because the process warms up. */
export function thirdsOf(samples: readonly number[]): { middle: Level; last: Level } {
  const third = Math.floor(samples.length / 3);
  return { middle: levelOf(samples.slice(third, 2 * third)), last: levelOf(samples.slice(2 * third)) };
}

function levelOf(samples: readonly number[]): Level {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { floor: at(0.1), median: at(0.5) };
}

/** `VmRSS` of proc(5). */
function residentMiB(pid: number): number {
  const [, kB] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kB) / 1024;
}

async function heapMiB(url: string): Promise<number> {
  const used = (await metricsOf(url)).find(({ name }) => name === 'nodejs_heap_size_used_bytes');
  return (used?.value ?? Number.NaN) / 1024 / 1024;
}
