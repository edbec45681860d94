import { Client } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { Deps } from '../../src/domain/deps.js';
import { encryptPayload } from '../../src/temporal/payload-codec.js';
import { seal, type Message } from '../../workflows/trust/sealed.js';

export interface Target {
  message: Message;
  organizationId: string;
  input: unknown;
}

/** A client of somebody who has access to Temporal. It sends the payload as it is, whatever the arguments are. */
export function clientSending({ temporal }: Deps, payload: Payload): Client {
  const { connection, options } = temporal.client;
  const [codec] = temporal.dataConverter.payloadCodecs ?? [];
  if (!codec) throw new Error('there is no codec');
  const encode = (payloads: Payload[]) => Promise.resolve(payloads.map(() => payload));
  const dataConverter = { ...temporal.dataConverter, payloadCodecs: [{ ...codec, encode }] };
  return new Client({ connection, namespace: options.namespace, dataConverter });
}

export function plainPayload(value: unknown): Payload {
  return defaultPayloadConverter.toPayload(value);
}

/** Payloads that the product did not make for the message, by what is wrong with them. */
export function forgeries({ auth }: Deps, { message, organizationId, input }: Target): Record<string, Payload> {
  const [kind, name, workflowId, ...rest] = message;
  const sealedFor = (other: Message) => plainPayload(seal(other, [input])[0]);
  const encrypted = (payload: Payload, owner?: readonly [string, string?]) =>
    encryptPayload(auth.box, payload, organizationId, owner);
  const genuine = encrypted(sealedFor(message), [workflowId]);
  const changed = Buffer.from(genuine.data ?? []);
  changed.writeUInt8(changed.readUInt8(20) ^ 1, 20);
  const withMetadata = (payload: Payload, metadata: Record<string, string>): Payload => ({
    ...payload,
    metadata: {
      ...payload.metadata,
      ...Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, Buffer.from(value)])),
    },
  });
  return {
    'a plain payload': plainPayload(input),
    'a plain sealed payload': sealedFor(message),
    'no data': { metadata: {}, data: Buffer.alloc(0) },
    'not sealed': encrypted(plainPayload(input), [workflowId]),
    'bound to no workflow': encrypted(sealedFor(message)),
    'of another workflow': encrypted(sealedFor([kind, name, 'execution/other', ...rest] as Message), [
      'execution/other',
    ]),
    'relabelled as of this workflow': withMetadata(encrypted(sealedFor(message), ['execution/other']), {
      'bound-to': JSON.stringify([workflowId]),
    }),
    'of another organization': encrypted(plainPayload(seal(message, [{ organization_id: 'another' }])[0]), [
      workflowId,
    ]),
    'for another type or name': encrypted(sealedFor([kind, 'other', workflowId, ...rest] as Message), [workflowId]),
    'for a message of another kind': encrypted(sealedFor(['schedule', name, workflowId]), [workflowId]),
    'of an activity': encrypted(sealedFor(message), [workflowId, '1']),
    'a changed byte': { ...genuine, data: changed },
    'another organization in the metadata': withMetadata(genuine, { 'organization-id': 'another' }),
    'another key in the metadata': withMetadata(genuine, { 'encryption-key-id': '00000000' }),
    'marks of the sender': withMetadata(plainPayload(input), { untrusted: 'no', 'accepted-until': '9e99' }),
  };
}
