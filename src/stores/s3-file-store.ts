import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import type * as Client from '@aws-sdk/client-s3';
import type * as Storage from '@aws-sdk/lib-storage';
import type * as Presigner from '@aws-sdk/s3-request-presigner';
import type { S3Config } from './environment.js';
import { AppError } from '../base/errors.js';
import { isObjectName, noSuchObject, type FileStore } from './file-store.js';

/** An upload keeps at most `partSize * maxConcurrentParts` bytes in memory. */
const partSize = 8 * 1024 * 1024;
const maxConcurrentParts = 2;

const load = createRequire(import.meta.url);

/**
 * Stores objects in a bucket of AWS S3 or a compatible server. A process without a bucket does not load the packages.
 */
export function createS3FileStore({ bucket, region, endpoint, credentials }: S3Config): FileStore {
  const { DeleteObjectCommand, GetObjectCommand, NoSuchKey, S3Client } = load('@aws-sdk/client-s3') as typeof Client;
  const { Upload } = load('@aws-sdk/lib-storage') as typeof Storage;
  const { getSignedUrl } = load('@aws-sdk/s3-request-presigner') as typeof Presigner;
  const client = new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    // Compatible servers may not support the newer checksum headers.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  } satisfies Client.S3ClientConfig);
  const at = (location: string) => {
    if (!isObjectName(location)) throw noSuchObject();
    return { Bucket: bucket, Key: location };
  };
  return {
    async write(location, source) {
      const upload = new Upload({
        client,
        params: { ...at(location), Body: source },
        partSize,
        queueSize: maxConcurrentParts,
      });
      // Without this, the upload would wait forever for a source that fails before its first byte.
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
        // In Node.js, Body is a Readable.
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
      const overrides = {
        ResponseContentDisposition: disposition,
        ResponseContentType: type,
        ResponseCacheControl: 'private',
      };
      return getSignedUrl(client, new GetObjectCommand({ ...at(location), ...overrides }), {
        expiresIn: expiresInSeconds,
      });
    },
    async close() {
      client.destroy();
    },
  };
}

/** Hides the server's message, which may contain hosts and keys. The log contains it as the cause. */
function unavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'the file store is not available', { cause });
}
