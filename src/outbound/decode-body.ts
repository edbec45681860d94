import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { OutboundError } from './outbound-error.js';

/** More would only hide how large a body is. */
const maxEncodings = 3;

type Decode = (body: Buffer, maxOutputLength: number) => Promise<Buffer>;

const unzip = promisify(zlib.unzip) as (body: Buffer, options: zlib.ZlibOptions) => Promise<Buffer>;
const inflateRaw = promisify(zlib.inflateRaw) as typeof unzip;
const brotli = promisify(zlib.brotliDecompress) as (body: Buffer, options: zlib.BrotliOptions) => Promise<Buffer>;
/** Accepts a body that breaks off before its checksum, as browsers do. */
const finishFlush = zlib.constants.Z_SYNC_FLUSH;

/** A body without the first bytes of gzip is sent as it is, by a server that only adds the header. */
const gzip: Decode = async (body, maxOutputLength) =>
  body[0] === 0x1f && body[1] === 0x8b ? unzip(body, { maxOutputLength, finishFlush }) : body;

/** Servers send `deflate` with the frame of zlib, as RFC 9110, 8.4.1.2 demands, and without it. */
const deflate: Decode = async (body, maxOutputLength) =>
  ((body[0] ?? 0) & 0x0f) === 8
    ? unzip(body, { maxOutputLength, finishFlush })
    : inflateRaw(body, { maxOutputLength, finishFlush });

const decoders: ReadonlyMap<string, Decode> = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', deflate],
  ['br', async (body, maxOutputLength) => brotli(body, { maxOutputLength })],
  // Servers also send the names of charsets here.
  ...['identity', 'none', 'binary', 'utf-8', 'utf8'].map((name): [string, Decode] => [
    name,
    (body) => Promise.resolve(body),
  ]),
]);

/**
 * Undoes the `Content-Encoding` of a body. Servers and proxies compress although nobody asked for it.
 * @throws OutboundError `too_large` if the decoded body has more than `maxBytes`; `action_refused` for an unknown encoding
 *   and for bytes that cannot be decoded
 */
export async function decodeBody(
  body: Buffer,
  contentEncoding: string | string[] | undefined,
  maxBytes: number,
): Promise<Buffer> {
  const names = String(contentEncoding ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  if (names.length > maxEncodings)
    throw new OutboundError('action_refused', `the answer has more than ${maxEncodings} content encodings`);
  let decoded = body;
  for (const name of names.reverse()) {
    const decode = decoders.get(name);
    if (!decode)
      throw new OutboundError(
        'action_refused',
        'the answer has an unknown content encoding: gzip, deflate or br is expected',
      );
    if (decoded.length > 0)
      decoded = await decode(decoded, maxBytes).catch((error: unknown) => refuse(error, maxBytes));
  }
  return decoded;
}

function refuse(error: unknown, maxBytes: number): never {
  const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
  throw isTooLarge
    ? new OutboundError('too_large', `the answer is larger than ${maxBytes} bytes`)
    : new OutboundError('action_refused', 'the answer does not match its content encoding');
}
