import type { Readable } from 'node:stream';
import { DeleteObjectCommand, GetObjectCommand, NoSuchKey, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { S3Config } from '../config.js';
import { AppError } from '../errors.js';
import { isObjectName, type FileStore } from './file-store.js';

/** Of one upload at most `partSize * partsAtOnce` bytes are in memory. */
const partSize = 8 * 1024 * 1024;
const partsAtOnce = 2;

/** Objects in a bucket of AWS S3 or of a server that speaks its protocol. */
export function createS3FileStore({ bucket, region, endpoint, credentials }: S3Config): FileStore {
  const client = new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    // Servers that only resemble S3 do not know the newer checksum headers.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  } satisfies S3ClientConfig);
  const at = (location: string) => {
    if (!isObjectName(location)) throw noSuchObject();
    return { Bucket: bucket, Key: location };
  };
  return {
    async write(location, source) {
      const upload = new Upload({ client, params: { ...at(location), Body: source }, partSize, queueSize: partsAtOnce });
      // A source that fails before its first byte would otherwise be waited for.
      source.once('error', () => void upload.abort());
      try {
        await upload.done();
      } catch (error) {
        source.destroy();
        throw source.errored ?? unavailable(error);
      }
    },
    async read(location) {
      try {
        const { Body } = await client.send(new GetObjectCommand(at(location)));
        // In Node the client gives a Readable.
        return Body as Readable;
      } catch (error) {
        throw error instanceof NoSuchKey ? noSuchObject(error) : unavailable(error);
      }
    },
    async remove(location) {
      await client.send(new DeleteObjectCommand(at(location))).catch((error: unknown) => {
        throw unavailable(error);
      });
    },
    localPath: () => undefined,
    presign(location, { disposition, type, expiresInSeconds }) {
      const overrides = { ResponseContentDisposition: disposition, ResponseContentType: type, ResponseCacheControl: 'private' };
      return getSignedUrl(client, new GetObjectCommand({ ...at(location), ...overrides }), { expiresIn: expiresInSeconds });
    },
    async close() {
      client.destroy();
    },
  };
}

function noSuchObject(cause?: unknown): AppError {
  return new AppError('not_found', 'the file holds no bytes', { cause });
}

/** What the bucket's server says may name hosts and keys, so that it stays in the log. */
function unavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'the file store does not answer', { cause });
}
