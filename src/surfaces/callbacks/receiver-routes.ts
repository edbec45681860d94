import { z } from 'zod';
import type { ErrorCode } from '../../base/error-catalog.js';
import type { Route } from '../rest/define-route.js';
import type { Receiver } from './receiver.js';

const Acknowledgement = z
  .looseObject({ status: z.string() })
  .meta({
    id: 'Acknowledgement',
    description: 'Reports the result of the delivery and never contains data that the caller sent.',
    example: { status: 'accepted' },
  });

const receivedHere: readonly ErrorCode[] = [
  'invalid_signature',
  'unauthorized',
  'repo_not_bound',
  'not_found',
  'validation_failed',
  'conflict',
  'unconfigured',
  'payload_too_large',
  'data_service_unreachable',
];
const forwarded: readonly ErrorCode[] = [
  'invalid_signature',
  'upstream_unreachable',
  'upstream_timeout',
  'payload_too_large',
  'not_found',
];
const fromDownstream = {
  description: 'Any other answer of the downstream service.',
  schema: z.unknown().meta({ example: { status: 'accepted' } }),
  stream: '*/*',
};

const registration =
  'Senders that check the address get their own token as text: the query parameter `hub.challenge`, `challenge` or `validationToken` of a GET or an empty POST, or the `challenge` of a body of type `url_verification`. GET and HEAD without a token answer 200.';

/** Returns the receivers as route data for the OpenAPI document. `receive.ts` serves them. */
export function receiverRoutes(receivers: readonly Receiver[]): Route[] {
  return receivers.map(({ path, summary, isForwarded, isRegistered }) => {
    return {
      method: 'post',
      path,
      permission: 'public',
      tag: 'callbacks',
      summary,
      description: [
        'Accepts a body of any content type, byte for byte, also by PUT and compressed with gzip.',
        ...(isForwarded ? ['The status of a forwarded callback is that of the downstream service.'] : []),
        ...(isRegistered ? [registration] : []),
      ].join(' '),
      response: {
        schema: Acknowledgement,
        description: 'Accepted, a duplicate, or ignored with the reason.',
        others: {
          202: { description: 'Accepted; a workflow continues the work.', schema: Acknowledgement },
          ...(isForwarded && { default: fromDownstream }),
        },
      },
      errors: isForwarded ? forwarded : receivedHere,
    };
  });
}
