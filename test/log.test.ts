import fs from 'node:fs';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { createLogger } from '../src/log.js';
import { eventually } from './support/eventually.js';

const written: string[] = [];
const write = jest.spyOn(fs, 'write').mockImplementation(((_file: number, text: string, done: Done) => {
  written.push(text);
  setImmediate(done, null, Buffer.byteLength(text));
}) as never);
type Done = (error: null, length: number) => void;
afterAll(() => write.mockRestore());

describe('a logger', () => {
  test('writes every line soon, and writes nothing while there are no lines', async () => {
    for (let idle = 0; idle < 5; idle += 1) createLogger({ level: 'info', name: 'idle' });
    const log = createLogger({ level: 'info', name: 'busy' });
    const lines = ['first', 'second', 'third'];
    for (const line of lines) {
      log.info(line);
      await eventually(() => expect(written.join('')).toContain(line));
    }
    // A logger also writes once after its last line.
    expect(written.length).toBeLessThanOrEqual(2 * lines.length);
  });

  test('writes lines together, also those that arrive during a write', async () => {
    const log = createLogger({ level: 'info', name: 'busy' });
    written.length = 0;
    for (let line = 0; line < 1000; line += 1) log.info(`line ${line}.`);
    await eventually(() => expect(written.join('')).toContain('line 999.'));
    expect(written.join('').match(/line \d+\./g)).toEqual(Array.from({ length: 1000 }, (_, line) => `line ${line}.`));
    expect(written.length).toBeLessThan(50);
  });

  test.each(['err', 'error'])('writes the type, message and stack of an error given as `%s`', async (name) => {
    written.length = 0;
    createLogger({ level: 'info', name: 'failing' }).error({ [name]: new TypeError('no such thing') }, 'failed');
    await eventually(() => expect(written.join('')).toContain('failed'));
    expect(JSON.parse(written.join(''))[name]).toMatchObject({
      type: 'TypeError',
      message: 'no such thing',
      stack: expect.stringContaining('log.test'),
    });
  });
});
