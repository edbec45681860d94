import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';

const { Payload } = proto.temporal.api.common.v1;
const key = Buffer.alloc(32);
const encoding = Buffer.from('binary/encrypted');

/** Encrypts payloads with AES-256-GCM and one fixed key, except those without data. */
export const leastCodec: PayloadCodec = {
  encode: async (payloads) =>
    payloads.map((payload) => {
      if (!payload.data?.length) return payload;
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const sealed = Buffer.concat([cipher.update(Payload.encode(payload).finish()), cipher.final()]);
      return { metadata: { encoding }, data: Buffer.concat([nonce, cipher.getAuthTag(), sealed]) };
    }),
  decode: async (payloads) =>
    payloads.map((payload) => {
      if (!payload.data?.length) return payload;
      const bytes = Buffer.from(payload.data);
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAuthTag(bytes.subarray(12, 28));
      return Payload.decode(Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]));
    }),
};
