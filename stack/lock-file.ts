import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { identify, isAlive, type ProcessIdentity } from './process-identity.js';

export type Lock = { release: () => void } | { heldBy: number };

/** Takes the lock, also from a process that is gone; otherwise says who holds it. */
export function tryLock(file: string): Lock {
  mkdirSync(path.dirname(file), { recursive: true });
  const mine = `${file}.${process.pid}.${performance.now()}`;
  writeFileSync(mine, JSON.stringify(identify(process.pid)));
  try {
    for (;;) {
      if (createFrom(mine, file)) return { release: () => release(file) };
      const holder = holderOf(file);
      if (holder && isAlive(holder)) return { heldBy: holder.pid };
      if (holder) removeStale(file, holder);
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Waits for the lock; `waiting` is told once who holds it. */
export async function lockWhenFree(
  file: string,
  { waiting, signal }: { waiting: (pid: number) => void; signal?: AbortSignal | undefined },
): Promise<() => void> {
  for (let told = false; ; ) {
    signal?.throwIfAborted();
    const lock = tryLock(file);
    if ('release' in lock) return lock.release;
    if (!told) waiting(lock.heldBy);
    told = true;
    await pause(300);
  }
}

function release(file: string): void {
  if (holderOf(file)?.pid === process.pid) rmSync(file, { force: true });
}

/** A hard link appears with its content, so nobody ever reads a half-written lock. */
function createFrom(source: string, file: string): boolean {
  try {
    linkSync(source, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function holderOf(file: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    return { pid: 0, started: 'unreadable' };
  }
}

/** Two processes may see the same stale lock: what was moved aside is looked at again, and a live lock is put back. */
function removeStale(file: string, stale: ProcessIdentity): void {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const moved = holderOf(aside);
  if (moved && moved.pid !== stale.pid && isAlive(moved)) createFrom(aside, file);
  rmSync(aside, { force: true });
}
