import {
  defaultPayloadConverter,
  type Payload,
  type PayloadCodec,
  type SerializationContext,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import { isRunOfSchedule, isSealed } from '../../workflows/trust/sealed.js';
import { isJsonObject } from '../base/json.js';
import type { Cipher } from '../stores/encrypted-blobs.js';
import type { PayloadTrust } from './payload-trust.js';
import type { WorkflowOrganizations } from './workflow-organizations.js';

const PayloadMessage = proto.temporal.api.common.v1.Payload;
const encrypted = 'binary/encrypted';
const beginOfMessage = Buffer.from('{"sealed_for":["');

/** The workflow, or the activity of a workflow, to which a payload belongs. */
type Owner = readonly [workflowId: string, activityId?: string];

/**
 * Encrypts every payload with the key of the organization that owns the workflow, and binds it to the workflow or
 * activity. Decodes all payloads that the product has encrypted, and returns others unchanged: for clients, which read.
 */
export function createPayloadCodec(cipher: Cipher, organizations: WorkflowOrganizations): PayloadCodec {
  return {
    async encode(payloads, context) {
      const organizationId = await organizations.of(context?.workflowId);
      return payloads.map((payload) => encryptPayload(cipher, payload, organizationId, ownerOf(context)));
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

/**
 * The codec of a worker, which obeys what it decodes. It marks payloads that the product did not encrypt for the workflow
 * or activity. It does not throw, because Temporal would then repeat the task for ever. The payload converter replaces
 * marked payloads by values that the interceptors refuse (decision 0009).
 */
export function createWorkerCodec(
  cipher: Cipher,
  organizations: WorkflowOrganizations,
  trust: PayloadTrust,
): PayloadCodec {
  const decodeOne = async (payload: Payload, context: SerializationContext | undefined): Promise<Payload> => {
    const organizationId = organizationOf(payload);
    if (organizationId === undefined) return marked('not encrypted');
    const keyId = textOf(payload.metadata?.['encryption-key-id']);
    const hasKey = cipher.hasKey(keyId);
    if (!hasKey && !(await trust.isOwnKey(keyId))) return marked('encrypted with a key of somebody else');
    // Without a key of the installation this throws: a worker with the key will repeat the task.
    const opened = hasKey ? tryDecrypt(cipher, payload) : decryptPayload(cipher, payload);
    if (!opened) return marked('changed');
    const owner = boundTo(payload);
    if (owner === undefined) return marked('not bound to a workflow');
    if (context && !isOwner(owner, context)) return marked('of another workflow or activity');
    if (isOfAnotherOrganization(opened, organizationId)) return marked('of another organization');
    organizations.learn(context?.workflowId, organizationId);
    return opened;
  };
  return {
    ...createPayloadCodec(cipher, organizations),
    decode: (payloads, context) => Promise.all(payloads.map((payload) => decodeOne(payload, context))),
  };
}

/** Replaces a payload by the reason why it is refused, for the payload converter. */
function marked(reason: string): Payload {
  return { metadata: { untrusted: Buffer.from(reason) } };
}

/** Returns the organization whose key encrypted the payload: '' for the installation, undefined for plain payloads. */
export function organizationOf({ metadata }: Payload): string | undefined {
  return textOf(metadata?.encoding) === encrypted ? textOf(metadata?.['organization-id']) : undefined;
}

export function encryptPayload(cipher: Cipher, payload: Payload, organizationId: string, owner?: Owner): Payload {
  const bound = owner && JSON.stringify(owner);
  const { keyId, parts } = cipher.encrypt(PayloadMessage.encode(payload).finish(), purposeOf(organizationId), bound);
  const metadata = {
    encoding: encrypted,
    'encryption-key-id': keyId,
    'organization-id': organizationId,
    ...(bound !== undefined && { 'bound-to': bound }),
  };
  return {
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value)])),
    data: Buffer.concat(parts),
  };
}

/** @throws Error if `SECRETS_KEY` does not contain the key or the bytes were modified */
export function decryptPayload(cipher: Cipher, { metadata, data }: Payload): Payload {
  const [organizationId, keyId] = [textOf(metadata?.['organization-id']), textOf(metadata?.['encryption-key-id'])];
  const bound = textOf(metadata?.['bound-to']);
  return PayloadMessage.decode(cipher.decrypt(data ?? new Uint8Array(), keyId, purposeOf(organizationId), bound));
}

function tryDecrypt(cipher: Cipher, payload: Payload): Payload | undefined {
  try {
    return decryptPayload(cipher, payload);
  } catch {
    return undefined;
  }
}

function ownerOf(context: SerializationContext | undefined): Owner {
  const workflowId = context?.workflowId ?? '';
  return context?.type === 'activity' ? [workflowId, context.activityId ?? ''] : [workflowId];
}

/** The text is authenticated. Undefined for a payload that a client without a context encrypted. */
function boundTo({ metadata }: Payload): string | undefined {
  return metadata?.['bound-to'] && textOf(metadata['bound-to']);
}

function isOwner(bound: string, context: SerializationContext): boolean {
  if (bound === JSON.stringify(ownerOf(context))) return true;
  const [workflowId = '', activityId] = JSON.parse(bound) as Owner;
  return context.type === 'workflow' && activityId === undefined && isRunOfSchedule(context.workflowId, workflowId);
}

/** Whether a message names an organization whose key did not encrypt it. */
function isOfAnotherOrganization(payload: Payload, organizationId: string): boolean {
  // A decoded payload without data has an empty array instead of bytes.
  const data = Buffer.from(payload.data ?? []);
  if (organizationId === '' || !data.subarray(0, beginOfMessage.length).equals(beginOfMessage)) return false;
  const message = defaultPayloadConverter.fromPayload<unknown>(payload);
  if (!isSealed(message)) return false;
  const [input] = message.args;
  if (!isJsonObject(input) || typeof input.organization_id !== 'string') return false;
  return input.organization_id !== organizationId;
}

function purposeOf(organizationId: string): string {
  return `temporal payload ${organizationId}`;
}

function textOf(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString('utf8');
}
