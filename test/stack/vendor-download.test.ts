import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { answersQuickly, downloadArchive } from '../../stack/vendor-download.js';
import { listen, type Listening } from '../support/ports.js';
import { verifies } from '../support/verifies.js';

const folder = mkdtempSync(path.join(tmpdir(), 'download-'));
const logFile = path.join(folder, 'log');
const env = { PATH: process.env.PATH };
let vendor: Listening;
let url: string;
let sha256: string;

beforeAll(async () => {
  writeFileSync(path.join(folder, 'server'), 'the binary');
  const archive = execFileSync('tar', ['-czf', '-', '-C', folder, 'server']);
  sha256 = createHash('sha256').update(archive).digest('hex');
  const pages: Record<string, Buffer | string> = { '/archive': archive };
  const server = createServer((request, response) => {
    const page = pages[request.url ?? ''];
    response.writeHead(page ? 200 : 404).end(page);
  });
  vendor = await listen(server);
  url = vendor.url;
});
afterAll(async () => {
  await vendor.close();
  rmSync(folder, { recursive: true });
});

describe("a vendor's download", () => {
  test('is tried only when the vendor can be reached', async () => {
    expect(await answersQuickly(`${url}/archive`, env)).toBe(true);
    expect(await answersQuickly('http://127.0.0.1:9/archive', env)).toBe(false);
  });

  test('is unpacked', async () => {
    const target = mkdtempSync(path.join(folder, 'target-'));
    await downloadArchive({ url: `${url}/archive`, sha256, folder: target, env, logFile });
    expect(readFileSync(path.join(target, 'server'), 'utf8')).toBe('the binary');
  });

  test('is refused if the vendor does not have it', async () => {
    const download = downloadArchive({ url: `${url}/absent`, sha256, folder, env, logFile });
    await expect(download).rejects.toThrow(/answered 404/);
  });

  test('is refused if it does not have its digest', async () => {
    verifies('stack.pinned');
    const target = mkdtempSync(path.join(folder, 'target-'));
    const download = downloadArchive({ url: `${url}/archive`, sha256: '0'.repeat(64), folder: target, env, logFile });
    await expect(download).rejects.toThrow(/SHA-256/);
  });
});
