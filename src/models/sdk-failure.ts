import { APIConnectionError, APIError } from 'openai';
import { isOutboundError, OutboundError } from '../outbound/outbound-error.js';
import { isTransientStatus, retryHintMs } from '../outbound/retry-hints.js';
import { readError } from './endpoint-error.js';
import { reasonOf, unreachableEndpoint } from './endpoint-failure.js';

/** Converts the failure of a request that the client of `openai` made, by its status. `secrets` are its credentials. */
export function failureOf(error: unknown, secrets: readonly string[]): OutboundError {
  if (isOutboundError(error)) return error;
  if (error instanceof APIConnectionError) return isOutboundError(error.cause) ? error.cause : unreachableEndpoint();
  if (!(error instanceof APIError) || error.status === undefined)
    return new OutboundError('model_answer_unusable', 'the model endpoint gave no answer that can be read');
  const { status, headers, error: body } = error as APIError<number, Headers>;
  const reason = reasonOf(readError(JSON.stringify(body ?? ''), status), secrets);
  const message = `the model endpoint answered with status ${status}${reason === '' ? '' : `: ${reason}`}`;
  if (!isTransientStatus(status)) return new OutboundError('model_refused', message, { status });
  return new OutboundError('model_unavailable', message, { status, retryAfterMs: retryHintMs(headers, Date.now()) });
}
