import { createHash } from 'node:crypto';
import type { Answer, ApiClient } from './client.js';

export interface Part {
  /** The field's name; a part with a file name is a file. */
  name: string;
  filename?: string;
  type?: string;
  content: string | Uint8Array;
}

const boundary = '----parts-of-a-test';

/** Returns multipart/form-data with the names unchanged, so that they reach the product as an attacker writes them. */
export function multipart(parts: readonly Part[]): { body: Buffer; headers: Record<string, string> } {
  const chunks = parts.flatMap(({ name, filename, type, content }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    const kind = type === undefined ? '' : `\r\nContent-Type: ${type}`;
    return [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}${kind}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ];
  });
  return {
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}

export function file(filename: string, content: string | Uint8Array, type?: string): Part {
  return { name: 'file', filename, content, ...(type === undefined ? {} : { type }) };
}

export function send(
  api: ApiClient,
  path: string,
  parts: readonly Part[],
  headers: Record<string, string> = {},
): Promise<Answer> {
  const { body, headers: form } = multipart(parts);
  return api.post(path, body, { ...form, ...headers });
}

interface BigUpload {
  status: number;
  body: any;
  sha256: string;
}

/** Streams one file of this size, so that the sender does not hold its bytes. */
export async function sendBig(
  url: string,
  apiKey: string,
  bytes: number,
  onChunk: (sent: number) => void = () => undefined,
): Promise<BigUpload> {
  const hash = createHash('sha256');
  const edge = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n`;
  const block = Buffer.alloc(256 * 1024);
  async function* body() {
    yield Buffer.from(edge);
    for (let sent = 0, at = 0; sent < bytes; at += 1) {
      block.writeUInt32BE(at, 0);
      const part = Buffer.from(block.subarray(0, Math.min(block.length, bytes - sent)));
      hash.update(part);
      yield part;
      sent += part.length;
      onChunk(sent);
    }
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, 'x-api-key': apiKey };
  const response = await fetch(url, { method: 'POST', headers, body: ReadableStream.from(body()), duplex: 'half' });
  return { status: response.status, body: await response.json(), sha256: hash.digest('hex') };
}
