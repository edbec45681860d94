import path from 'node:path';
import {
  ExternalStorage,
  StorageDriverClaim,
  type DataConverter,
  type Payload,
  type PayloadCodec,
  type StorageDriver,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import { packageRoot } from '../base/packages.js';
import type { BlobStore } from '../stores/blobs.js';

const PayloadMessage = proto.temporal.api.common.v1.Payload;
const payloadLimitBytes = 256 * 1024;

/** The workflow bundle also contains these files (src/cli/bundle-workflows.ts). */
export const failureConverterPath = path.join(packageRoot, 'workflows/failure-converter.cjs');
export const payloadConverterPath = path.join(packageRoot, 'workflows/payload-converter.cjs');

/**
 * Encrypts payloads. Stores payloads over 256 KiB in the file store, so that the history holds a reference (design,
 * Workflows).
 */
export function createDataConverter(blobs: BlobStore, codec: PayloadCodec): DataConverter {
  const externalStorage = new ExternalStorage({
    drivers: [blobDriver(blobs)],
    payloadSizeThreshold: payloadLimitBytes,
  });
  return { payloadCodecs: [codec], payloadConverterPath, failureConverterPath, externalStorage };
}

function blobDriver(blobs: BlobStore): StorageDriver {
  return {
    name: 'file-store',
    type: 'file-store',
    async store(_context, payloads) {
      return Promise.all(
        payloads.map(async (payload) => {
          const bytes = PayloadMessage.encode(payload).finish();
          return new StorageDriverClaim({ location: await blobs.put(bytes) });
        }),
      );
    },
    async retrieve(_context, claims) {
      return Promise.all(
        claims.map(async ({ claimData }): Promise<Payload> => {
          return PayloadMessage.decode(await blobs.get(claimData.location ?? ''));
        }),
      );
    },
  };
}
