import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSecretBox } from '../../src/auth/secret-box.js';
import { verifies } from '../support/verifies.js';

const key = 'k'.repeat(32);
const other = 'o'.repeat(44);
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'secret-box-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

function boxOf(secretsKey: string | undefined, environment: 'production' | 'test' = 'test') {
  return createSecretBox({ secretsKey, dataDir, environment });
}

describe('a secret box', () => {
  test('opens what it sealed and never repeats an envelope', () => {
    const box = boxOf(key);
    const sealed = box.seal('pässword \u{1f511}', 'connector:1');
    expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]+$/);
    expect(box.open(sealed, 'connector:1')).toBe('pässword \u{1f511}');
    expect(box.seal('pässword \u{1f511}', 'connector:1')).not.toBe(sealed);
  });

  test('refuses to open for another purpose, after a change or truncation, and with another key', () => {
    const box = boxOf(key);
    const sealed = box.seal('secret', 'connector:1');
    const [format, id, iv, body] = sealed.split('.') as [string, string, string, string];
    const flipped = (body.startsWith('A') ? 'B' : 'A') + body.slice(1);
    expect(() => box.open(sealed, 'connector:2')).toThrow();
    expect(() => box.open([format, id, iv, flipped].join('.'), 'connector:1')).toThrow();
    expect(() => box.open([format, id, iv, body.slice(0, 10)].join('.'), 'connector:1')).toThrow();
    expect(() => box.open([format, id, iv].join('.'), 'connector:1')).toThrow();
    expect(() => box.open(`${sealed}.`, 'connector:1')).toThrow(/SECRETS_KEY/);
    for (let length = 5; length < 9; length += 1)
      expect(() => box.open(`${box.seal('s'.repeat(length), 'connector:1')}x`, 'connector:1')).toThrow();
    expect(() => box.open('', 'connector:1')).toThrow(/SECRETS_KEY/);
    expect(() => boxOf(other).open(sealed, 'connector:1')).toThrow(/SECRETS_KEY/);
  });

  test('seals with the first of several keys and opens with each', () => {
    const sealed = boxOf(key).seal('secret', 'p');
    const both = boxOf(`${other}, ${key}`);
    expect(both.open(sealed, 'p')).toBe('secret');
    expect(boxOf(other).open(both.seal('next', 'p'), 'p')).toBe('next');
  });

  test('shares one generated file, readable only by its owner, if no key is configured', async () => {
    const sealed = boxOf(undefined).seal('secret', 'p');
    expect(boxOf(undefined).open(sealed, 'p')).toBe('secret');
    expect((await stat(path.join(dataDir, 'secrets.key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(dataDir)).toEqual(['secrets.key']);
    expect((await readFile(path.join(dataDir, 'secrets.key'), 'utf8')).trim()).toHaveLength(43);
  });

  test('refuses a short key, an emptied key file, and production without a key', async () => {
    verifies('first-start.production-generated-secrets');
    expect(() => boxOf('short')).toThrow(/at least 32/);
    expect(() => boxOf(' , ')).toThrow(/no key/);
    expect(() => boxOf(undefined, 'production')).toThrow(/SECRETS_KEY is not set: production/);
    expect(boxOf(key, 'production').seal('secret', 'p')).toMatch(/^v1\./);
    await writeFile(path.join(dataDir, 'secrets.key'), '');
    expect(() => boxOf(undefined)).toThrow(/contains no key/);
  });
});
