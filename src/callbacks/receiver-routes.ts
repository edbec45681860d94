import { z } from 'zod';
import { defineRoute, type Route } from '../http/define-route.js';
import type { Receiver } from './receiver.js';

const Acknowledgement = z
  .looseObject({ status: z.string() })
  .meta({ id: 'Acknowledgement', description: 'Says what became of the delivery and never holds what a caller sent.', example: { status: 'accepted' } });

/** The receivers as route data, for the OpenAPI document; they are served by `receive.ts`. */
export function receiverRoutes(receivers: readonly Receiver[]): Route[] {
  return receivers.map(({ path, summary }) =>
    defineRoute({
      method: 'post',
      path,
      permission: 'public',
      tag: 'callbacks',
      summary,
      description: 'Takes a body of any content type, byte for byte. The status of a forwarded callback is that of the downstream service.',
      response: { status: path.includes('{') || path.endsWith('/om/webhook') ? 202 : 200, schema: Acknowledgement, description: 'The acknowledgement.' },
      errors: path.includes('{')
        ? ['upstream_unreachable', 'upstream_timeout', 'payload_too_large', 'not_found']
        : ['invalid_signature', 'unauthorized', 'repo_not_bound', 'unconfigured', 'invalid_request', 'payload_too_large'],
      handler: () => Promise.reject(new Error('a receiver is served by receive.ts')),
    }),
  );
}
