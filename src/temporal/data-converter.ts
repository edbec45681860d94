import { ExternalStorage, StorageDriverClaim, type DataConverter, type Payload, type StorageDriver } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { BlobStore } from '../stores/blobs.js';

const PayloadMessage = proto.temporal.api.common.v1.Payload;
const payloadLimitBytes = 256 * 1024;

/** Payloads over 256 KiB go to the file store; history holds a reference (design, Workflows). */
export function createDataConverter(blobs: BlobStore): DataConverter {
  return { externalStorage: new ExternalStorage({ drivers: [blobDriver(blobs)], payloadSizeThreshold: payloadLimitBytes }) };
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
