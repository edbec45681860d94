import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startScript } from '../test/support/processes.js';
import type { BenchEnvironment } from './environment.js';
import { figure, median, timed, type Figure } from './measure.js';

const fileBytes = 100 * 1024 * 1024;
const rounds = 5;
const boundary = 'bench-boundary';
const chunk = Buffer.alloc(256 * 1024, 'x');

/** Compares the upload and download of a 100 MiB file with a bare server that pipes a body to a file and back. */
export async function benchFiles(bench: BenchEnvironment): Promise<Figure[]> {
  const { api, projectID, apiKey } = await bench.workspace();
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-files-'));
  const server = await startScript(
    'bench/bare/file-server.js',
    { BENCH_FILE: path.join(folder, 'file') },
    path.join(folder, 'log'),
    'listening',
  );
  const bare = `http://127.0.0.1:${(server.up as unknown as AddressInfo).port}`;
  const [up, bareUp, down, bareDown]: number[][] = [[], [], [], []];
  try {
    for (let round = 0; round <= rounds; round += 1) {
      let url = '';
      const ours = await timed(async () => {
        const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, 'x-api-key': apiKey };
        const answer = await send(`${api.url}/file/${projectID}`, headers, asForm());
        url = ((await answer.json()) as { data: { url: string }[] }).data[0]?.url ?? '';
      });
      const baseline = await timed(async () => void (await (await send(bare, {}, bytes())).arrayBuffer()));
      const read = await timed(() => receive(url));
      const bareRead = await timed(() => receive(bare));
      // The first round only warms up.
      if (round > 0)
        for (const [list, ms] of [
          [up, ours],
          [bareUp, baseline],
          [down, read],
          [bareDown, bareRead],
        ] as const)
          list?.push(ms);
    }
    return [
      figure('upload of 100 MiB, against a bare stream to a file', 'MiB/s', rate(up), rate(bareUp), 'none set'),
      figure('download of 100 MiB, against a bare stream from a file', 'MiB/s', rate(down), rate(bareDown), 'none set'),
    ];
  } finally {
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

function rate(times: readonly number[] = []): number {
  return fileBytes / 1024 / 1024 / (median(times) / 1000);
}

async function* bytes() {
  for (let sent = 0; sent < fileBytes; sent += chunk.length) yield chunk;
}

async function* asForm() {
  yield Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="bench.bin"\r\n\r\n`);
  yield* bytes();
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}

async function send(url: string, headers: Record<string, string>, body: AsyncIterable<Uint8Array>): Promise<Response> {
  const answer = await fetch(url, { method: 'POST', headers, body: ReadableStream.from(body), duplex: 'half' });
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer;
}

async function receive(url: string): Promise<void> {
  const answer = await fetch(url);
  let size = 0;
  for await (const part of answer.body ?? []) size += (part as Uint8Array).length;
  if (size !== fileBytes) throw new Error(`${url}: ${answer.status}, ${size} bytes`);
}
