import { readdirSync, readFileSync } from 'node:fs';

/** Linux, proc(5). */
const msPerTick = 10;

/** The fields of proc(5) `stat` after the name of the process, from the third one. Undefined if the process has ended. */
function statOf(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ');
  } catch {
    return undefined;
  }
}

/** Returns the processor time of these processes and all below them in milliseconds, with that of children that have ended. */
export function processorMsOfTrees(roots: readonly number[]): number {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? Number(statOf(Number(name))?.[1]) : Number.NaN;
    if (!Number.isNaN(parent)) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const seen = new Set<number>();
  const visit = (pid: number): void => {
    if (seen.has(pid)) return;
    seen.add(pid);
    children.get(pid)?.forEach(visit);
  };
  roots.forEach(visit);
  // User and system time, of the process and of the children that it has waited for, in ticks.
  const ticks = [...seen].flatMap((pid) => statOf(pid)?.slice(11, 15) ?? []);
  return ticks.reduce((sum, value) => sum + Number(value), 0) * msPerTick;
}

/** Returns the processor time of a process in milliseconds, without its children. */
export function processorMs(pid: number): number {
  const [user, system] = statOf(pid)?.slice(11, 13) ?? [];
  return (Number(user) + Number(system)) * msPerTick;
}

/** Returns the resident memory of a process in MiB (Linux: VmRSS of proc(5)). */
export function residentMiB(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? Number.NaN) / 1024;
}
