import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { metricsOf } from '../../support/metrics.js';
import type { Lasting } from './fleet.js';

/** Of one process, in MiB, in the order of time. */
export interface Memory {
  name: string;
  resident: number[];
  heap: number[];
}

/** Samples until the signal. The resident size counts what the heap's own figure leaves out: native code, workflow threads. */
export async function sampleMemory(processes: readonly Lasting[], everyMs: number, until: AbortSignal): Promise<Memory[]> {
  const sampled = processes.map((process) => ({ process, memory: { name: process.name, resident: [], heap: [] } as Memory }));
  while (!until.aborted) {
    for (const { process, memory } of sampled) {
      memory.resident.push(residentMiB(process.pid));
      memory.heap.push(await heapMiB(process.metricsUrl));
    }
    await delay(everyMs);
  }
  return sampled.map(({ memory }) => memory);
}

/** The middle third against the last: the first is left out as the time of warming up. */
export function thirdsOf(samples: readonly number[]): { middle: number; last: number } {
  const third = Math.floor(samples.length / 3);
  return { middle: median(samples.slice(third, 2 * third)), last: median(samples.slice(2 * third)) };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
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
