import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { Cipher } from '../stores/encrypted-blobs.js';
import type { WorkflowOrganizations } from './workflow-organizations.js';

const PayloadMessage = proto.temporal.api.common.v1.Payload;
const encrypted = 'binary/encrypted';

/**
 * Encrypts every payload with the key of the organization that owns the workflow. Returns unencrypted payloads
 * unchanged, so that old histories stay readable (decision 0063).
 */
export function createPayloadCodec(cipher: Cipher, organizations: WorkflowOrganizations): PayloadCodec {
  return {
    async encode(payloads, context) {
      if (!payloads.some(hasData)) return payloads;
      const organizationId = await organizations.of(context?.workflowId);
      return payloads.map((payload) => (hasData(payload) ? encryptPayload(cipher, payload, organizationId) : payload));
    },
    async decode(payloads, context) {
      return payloads.map((payload) => {
        const organizationId = organizationOf(payload);
        if (organizationId === undefined) return payload;
        organizations.learn(context?.workflowId, organizationId);
        return decryptPayload(cipher, payload);
      });
    },
  };
}

/** Returns the organization whose key encrypted the payload: '' for the installation, undefined for plain payloads. */
export function organizationOf({ metadata }: Payload): string | undefined {
  return textOf(metadata?.encoding) === encrypted ? textOf(metadata?.['organization-id']) : undefined;
}

export function encryptPayload(cipher: Cipher, payload: Payload, organizationId: string): Payload {
  const { keyId, parts } = cipher.encrypt(PayloadMessage.encode(payload).finish(), purposeOf(organizationId));
  const metadata = { encoding: encrypted, 'encryption-key-id': keyId, 'organization-id': organizationId };
  return {
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value)])),
    data: Buffer.concat(parts),
  };
}

/** @throws Error if `SECRETS_KEY` does not contain the key or the bytes were modified */
export function decryptPayload(cipher: Cipher, { metadata, data }: Payload): Payload {
  const organizationId = textOf(metadata?.['organization-id']);
  return PayloadMessage.decode(
    cipher.decrypt(data ?? new Uint8Array(), textOf(metadata?.['encryption-key-id']), purposeOf(organizationId)),
  );
}

function purposeOf(organizationId: string): string {
  return `temporal payload ${organizationId}`;
}

/** Returns whether there is data to encrypt: `undefined` and `null` have none. */
function hasData({ data }: Payload): boolean {
  return (data?.length ?? 0) > 0;
}

function textOf(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString('utf8');
}
