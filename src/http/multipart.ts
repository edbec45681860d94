import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { AppError } from '../base/errors.js';
import { discardRest } from './discard-rest.js';

interface IncomingFile {
  /** The name as the client sent it, including any path. */
  name: string;
  stream: Readable;
}

interface MultipartLimits {
  files: number;
  fields: number;
  fieldBytes: number;
  /** For the names and values of all fields together, so that a refused body is not collected first. */
  allFieldsBytes: number;
}

/** The maximum part of a refused body that is read, so that the client receives the response. */
const maxDiscardedBytes = 256 * 1024 * 1024;
const truncatedText = 'the request body was truncated';

/**
 * Reads multipart/form-data (RFC 7578) part by part. `onFile` gets each file as a stream. Reading continues when it has
 * consumed the stream. All calls of `onFile` have ended when this function ends, even if it fails.
 * @throws AppError `invalid_request` for a body that is malformed, truncated or beyond the limits; the errors of
 * `onFile`
 */
export async function readMultipart(
  req: IncomingMessage,
  limits: MultipartLimits,
  onFile: (file: IncomingFile) => Promise<void>,
): Promise<[name: string, value: string][]> {
  const parser = parserOf(req, limits);
  const fields: [string, string][] = [];
  const work: Promise<void>[] = [];
  const open = new Set<Readable>();
  let receivedBytes = 0;
  try {
    await new Promise<void>((resolve, reject) => {
      parser.on('file', (_field, stream, name) => {
        // A truncated part also emits an error on its stream, possibly when nothing reads the stream any more.
        stream.on('error', () => undefined);
        open.add(stream);
        const handled = onFile({ name: unescaped(name ?? ''), stream }).finally(() => open.delete(stream));
        handled.catch(reject);
        work.push(handled);
      });
      parser.on('field', (name, value, _nameTruncated, truncated) => {
        if (truncated)
          return reject(malformed(`the field ${name.slice(0, 100)} is longer than ${limits.fieldBytes} bytes`));
        receivedBytes += Buffer.byteLength(name) + Buffer.byteLength(value);
        if (receivedBytes > limits.allFieldsBytes)
          return reject(malformed(`the fields are longer than ${limits.allFieldsBytes} bytes in total`));
        fields.push([name, value]);
      });
      for (const [event, what] of [
        ['filesLimit', `${limits.files} files`],
        ['fieldsLimit', `${limits.fields} fields`],
        ['partsLimit', `${limits.files + limits.fields} parts`],
      ] as const) {
        parser.on(event, () => reject(malformed(`the body has more than ${what}`)));
      }
      parser.on('error', (error) => reject(malformed('the body is not valid multipart/form-data', error)));
      parser.on('finish', resolve);
      const onCutOff = () => {
        if (!req.complete) reject(malformed(truncatedText));
      };
      req.on('close', onCutOff).on('error', onCutOff);
      req.pipe(parser);
    });
    await Promise.all(work);
    return fields;
  } catch (error) {
    req.unpipe(parser);
    for (const stream of open) stream.destroy(error as Error);
    await Promise.allSettled(work);
    discardRest(req, maxDiscardedBytes);
    throw error;
  }
}

/** Browsers escape exactly these characters in file names (WHATWG HTML, multipart/form-data encoding algorithm). */
function unescaped(name: string): string {
  return name.replace(/%22|%0D|%0A/gi, decodeURIComponent);
}

/** Returns whether the client disconnected before it sent the whole body, so that nobody waits for the response. */
export function clientDisconnected(req: IncomingMessage): boolean {
  return req.destroyed && !req.complete;
}

function parserOf(req: IncomingMessage, limits: MultipartLimits): BusboyInstance {
  const type = req.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;/i.test(type))
    throw malformed('the body must be sent as multipart/form-data with a boundary');
  const { files, fields, fieldBytes } = limits;
  try {
    return new Busboy({
      headers: { ...req.headers, 'content-type': type },
      preservePath: true,
      limits: { files, fields, parts: files + fields, fieldSize: fieldBytes, headerPairs: 20, headerSize: 16 * 1024 },
    });
  } catch (error) {
    throw malformed('the body must be sent as multipart/form-data with a boundary', error);
  }
}

function malformed(description: string, cause?: unknown): AppError {
  return new AppError('invalid_request', description, { cause });
}
