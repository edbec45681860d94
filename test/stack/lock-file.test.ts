import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { identify } from '../../stack/process-identity.js';
import { lockWhenFree, tryLock } from '../../stack/lock-file.js';

const folder = mkdtempSync(path.join(tmpdir(), 'lock-'));
const file = path.join(folder, 'one.lock');

afterEach(() => rmSync(file, { force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

/** The pid of a process that has ended. */
function endedPid(): number {
  return Number(execFileSync('/bin/sh', ['-c', 'echo $$'], { encoding: 'utf8' }));
}

describe('lock file', () => {
  test('is refused while a live process holds it, and names that process', () => {
    tryLock(file);
    expect(tryLock(file)).toEqual({ heldBy: process.pid });
  });

  test.each([
    ['of a process that has ended', () => JSON.stringify({ pid: endedPid() })],
    ['of an earlier process with a pid that is in use again', () => JSON.stringify({ pid: process.pid, started: '1' })],
    ['that cannot be read', () => ''],
  ])('is taken over when it is one %s', (_, content) => {
    writeFileSync(file, content());
    expect(tryLock(file)).toHaveProperty('release');
    expect(tryLock(file)).toEqual({ heldBy: process.pid });
  });

  test('is free again after it is released', () => {
    const lock = tryLock(file);
    if ('release' in lock) lock.release();
    expect(existsSync(file)).toBe(false);
  });

  test("keeps another process's lock if it is released late", () => {
    const lock = tryLock(file);
    writeFileSync(file, JSON.stringify(identify(process.ppid)));
    if ('release' in lock) lock.release();
    expect(existsSync(file)).toBe(true);
  });

  test('is given to one waiter after another', async () => {
    const order: string[] = [];
    const hold = async (name: string): Promise<void> => {
      const release = await lockWhenFree(file, { waiting: (pid) => order.push(`${name} waits for ${pid}`) });
      order.push(name);
      await new Promise(setImmediate);
      release();
    };
    await Promise.all([hold('first'), hold('second')]);
    expect(order).toHaveLength(3);
    expect(order).toEqual(expect.arrayContaining(['first', `second waits for ${process.pid}`]));
    expect(order.at(-1)).toBe('second');
  });
});
