import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { answersQuickly, downloadArchive } from '../../stack/vendor-download.js';

const folder = mkdtempSync(path.join(tmpdir(), 'download-'));
const logFile = path.join(folder, 'log');
const env = { PATH: process.env.PATH };
let vendor: Server;
let url: string;

beforeAll(async () => {
  writeFileSync(path.join(folder, 'server'), 'the binary');
  const archive = execFileSync('tar', ['-czf', '-', '-C', folder, 'server']);
  const pages: Record<string, Buffer | string> = {
    '/archive': archive,
    '/sha256': `${createHash('sha256').update(archive).digest('hex')}  server.tar.gz\n`,
    '/wrong': `${'0'.repeat(64)}\n`,
  };
  vendor = createServer((request, response) => {
    const page = pages[request.url ?? ''];
    response.writeHead(page ? 200 : 404).end(page);
  });
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
});
afterAll(async () => {
  vendor.closeAllConnections();
  await new Promise((resolve) => vendor.close(resolve));
  rmSync(folder, { recursive: true });
});

describe("a vendor's download", () => {
  test('is tried only when the vendor can be reached', async () => {
    expect(await answersQuickly(`${url}/archive`, env)).toBe(true);
    expect(await answersQuickly('http://127.0.0.1:9/archive', env)).toBe(false);
  });

  test('is unpacked', async () => {
    const target = mkdtempSync(path.join(folder, 'target-'));
    await downloadArchive({ url: `${url}/archive`, sha256Url: `${url}/sha256`, folder: target, env, logFile });
    expect(readFileSync(path.join(target, 'server'), 'utf8')).toBe('the binary');
  });

  test('is refused if the vendor does not have it', async () => {
    const download = downloadArchive({ url: `${url}/absent`, folder, env, logFile });
    await expect(download).rejects.toThrow(/answered 404/);
  });

  test('is refused if it differs from the published file', async () => {
    const target = mkdtempSync(path.join(folder, 'target-'));
    const download = downloadArchive({
      url: `${url}/archive`,
      sha256Url: `${url}/wrong`,
      folder: target,
      env,
      logFile,
    });
    await expect(download).rejects.toThrow(/SHA-256/);
  });
});
