import { z } from 'zod';
import type { ErrorCode } from '../errors.js';
import { defineRoute, type Route } from '../http/define-route.js';
import type { Receiver } from './receiver.js';

const Acknowledgement = z
  .looseObject({ status: z.string() })
  .meta({ id: 'Acknowledgement', description: 'Says what became of the delivery and never holds what a caller sent.', example: { status: 'accepted' } });

const receivedHere: readonly ErrorCode[] = ['invalid_signature', 'unauthorized', 'repo_not_bound', 'not_found', 'validation_failed', 'conflict', 'unconfigured', 'payload_too_large', 'data_service_unreachable'];
const forwarded: readonly ErrorCode[] = ['upstream_unreachable', 'upstream_timeout', 'payload_too_large', 'not_found'];
const fromDownstream = { description: 'What else the downstream service answers.', schema: z.unknown().meta({ example: { status: 'accepted' } }), stream: '*/*' };

/** The receivers as route data, for the OpenAPI document; they are served by `receive.ts`. */
export function receiverRoutes(receivers: readonly Receiver[]): Route[] {
  return receivers.map(({ path, summary }) => {
    const isForwarded = path.includes('{');
    return defineRoute({
      method: 'post',
      path,
      permission: 'public',
      tag: 'callbacks',
      summary,
      description: 'Takes a body of any content type, byte for byte. The status of a forwarded callback is that of the downstream service.',
      response: {
        schema: Acknowledgement,
        description: 'Taken: accepted, a duplicate, or ignored with the reason.',
        others: { 202: { description: 'Accepted; the work goes on in a workflow.', schema: Acknowledgement }, ...(isForwarded && { default: fromDownstream }) },
      },
      errors: isForwarded ? forwarded : receivedHere,
      handler: () => Promise.reject(new Error('a receiver is served by receive.ts')),
    });
  });
}
