import path from 'node:path';
import type { Response } from 'express';
import type { Deps } from '../deps.js';
import { AppError, notFound } from '../../base/errors.js';
import { attachment } from './file-name.js';
import { contentTypeOf } from './mime-type.js';
import { checkSignedPath } from './signed-url.js';

const cacheControl = 'private, max-age=3600, immutable';

/**
 * Streams a file to a client with a signed URL. Supports ranges and conditional requests (RFC 9110). The headers prevent
 * browsers from displaying or running uploaded content.
 * @throws AppError `access_denied`, `not_found` if the content was deleted or is in a bucket
 */
export async function download(
  deps: Deps,
  res: Response,
  fileId: string,
  query: { expires: string; signature: string },
): Promise<void> {
  checkSignedPath(deps.auth.box, fileId, query);
  const file = await deps.mongo.collections.files.findOne({ _id: fileId });
  const local = file?.status === 'ready' ? deps.files.store.localPath(file.location) : undefined;
  if (!file || local === undefined) throw notFound('the file');
  // Express would add UTF-8 to a text without a charset.
  res.setHeader('Content-Type', contentTypeOf(file));
  res.set({
    'Content-Disposition': attachment(file.name),
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': cacheControl,
    ETag: `"${file.sha256}"`,
  });
  // The `send` package refuses a suffix that is longer than the file. It means the whole file (RFC 9110, 14.1.2).
  const suffix = /^bytes=-(\d+)$/.exec(res.req.headers.range ?? '')?.[1];
  if (Number(suffix) > file.size_bytes) res.req.headers.range = 'bytes=0-';
  await new Promise<void>((resolve, reject) => {
    const options = { root: path.dirname(local), cacheControl: false, dotfiles: 'allow' as const };
    res.sendFile(path.basename(local), options, (error: unknown) => {
      // A client that disconnects during the download is not an error.
      if (error === undefined || res.headersSent) return resolve();
      for (const name of ['Content-Type', 'Content-Disposition', 'Cache-Control', 'ETag']) res.removeHeader(name);
      reject(refusalOf(error, file.size_bytes));
    });
  });
}

/** Maps errors of the `send` package: a missing file, a failed precondition, or a range that cannot be satisfied. */
function refusalOf(error: unknown, size: number): unknown {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  if (status === 404) return notFound('the file');
  if (status === 412)
    return new AppError('precondition_failed', 'the file does not match the condition of the request');
  if (status !== 416) return error;
  return new AppError('range_not_satisfiable', 'the range must start before the end of the file', { sizeBytes: size });
}
