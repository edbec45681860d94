import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { identify, isAlive, type ProcessIdentity } from './process-identity.js';

type Lock = { release: () => void } | { heldBy: number };

/** Takes the lock, even from a process that has ended. Otherwise returns which process holds it. */
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

/** Waits for the lock. Calls `waiting` once with the pid of the holder. */
export async function lockWhenFree(
  file: string,
  { waiting, signal }: { waiting: (pid: number) => void; signal?: AbortSignal | undefined },
): Promise<() => void> {
  for (let hasReported = false; ;) {
    signal?.throwIfAborted();
    const lock = tryLock(file);
    if ('release' in lock) return lock.release;
    if (!hasReported) waiting(lock.heldBy);
    hasReported = true;
    await pause(300);
  }
}

function release(file: string): void {
  if (holderOf(file)?.pid === process.pid) rmSync(file, { force: true });
}

/** A hard link appears together with its content, so nobody reads a half-written lock. */
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

/** Two processes may see the same stale lock, so check the lock again after moving it and put back a live one. */
function removeStale(file: string, stale: ProcessIdentity): void {
  const staleFile = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, staleFile);
  } catch {
    return;
  }
  const moved = holderOf(staleFile);
  if (moved && moved.pid !== stale.pid && isAlive(moved)) createFrom(staleFile, file);
  rmSync(staleFile, { force: true });
}
