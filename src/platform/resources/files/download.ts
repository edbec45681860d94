import path from 'node:path';
import type { Response } from 'express';
import type { Deps } from '../../../deps.js';
import { AppError, notFound } from '../../../errors.js';
import { attachment } from '../../../files/file-name.js';
import { checkSignedPath } from '../../../files/signed-url.js';

const unchanging = 'private, max-age=3600, immutable';

/**
 * Streams a file to whoever holds its signed address, ranges and conditions included (RFC 9110). The headers keep a
 * browser from showing or running what somebody uploaded.
 * @throws AppError `access_denied`, `not_found` where the bytes are gone or in a bucket
 */
export async function download(deps: Deps, res: Response, fileId: string, query: { expires: string; signature: string }): Promise<void> {
  checkSignedPath(deps.auth.box, fileId, query);
  const file = await deps.mongo.collections.files.findOne({ _id: fileId });
  const local = file?.status === 'ready' ? deps.files.store.localPath(file.location) : undefined;
  if (!file || local === undefined) throw notFound('the file');
  res.set({
    'Content-Type': file.mime_type,
    'Content-Disposition': attachment(file.name),
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': unchanging,
    ETag: `"${file.sha256}"`,
  });
  await new Promise<void>((resolve, reject) => {
    const options = { root: path.dirname(local), cacheControl: false, dotfiles: 'allow' as const };
    res.sendFile(path.basename(local), options, (error: unknown) => {
      // A receiver that leaves half-way is no fault.
      if (error === undefined || res.headersSent) return resolve();
      for (const name of ['Content-Type', 'Content-Disposition', 'Cache-Control', 'ETag']) res.removeHeader(name);
      reject(refusalOf(error, file.size_bytes));
    });
  });
}

/** What the `send` package refuses with: a missing file, a condition that does not hold, a range beyond the end. */
function refusalOf(error: unknown, size: number): unknown {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  if (status === 404) return notFound('the file');
  if (status === 412) return new AppError('invalid_request', 'the file is not the one that the condition names', { status: 412 });
  if (status !== 416) return error;
  return new AppError('invalid_request', 'the range begins beyond the end', { status: 416, headers: { 'Content-Range': `bytes */${size}` } });
}
