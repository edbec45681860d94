import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startScript } from '../test/support/processes.js';
import type { BenchEnvironment } from './environment.js';
import { eachSide, inTurns, medians, timed, type Figure } from './measure.js';

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
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, 'x-api-key': apiKey };
  let url = '';
  try {
    const uploads = await inTurns(
      rounds,
      () =>
        timed(async () => {
          const answer = await send(`${api.url}/file/${projectID}`, headers, asForm());
          url = ((await answer.json()) as { data: { url: string }[] }).data[0]?.url ?? '';
        }),
      () => timed(async () => (await send(bare, {}, bytes())).arrayBuffer()),
    );
    const downloads = await inTurns(
      rounds,
      () => timed(() => receive(url)),
      () => timed(() => receive(bare)),
    );
    return [
      medians('upload of 100 MiB, against a bare stream to a file', 'MiB/s', eachSide(uploads, rates), 'none set'),
      medians(
        'download of 100 MiB, against a bare stream from a file',
        'MiB/s',
        eachSide(downloads, rates),
        'none set',
      ),
    ];
  } finally {
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

function rates(times: readonly number[]): number[] {
  return times.map((ms) => fileBytes / 1024 / 1024 / (ms / 1000));
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
