import { Agent, type Dispatcher } from 'undici';
import { AppError, isAppError } from '../../base/errors.js';
import { isOutboundError } from '../../outbound/outbound-error.js';
import { acknowledgementLimit, acknowledgementOf } from './acknowledgement.js';
import { exchange } from './exchange.js';
import type { Acknowledgement } from './receiver.js';
import { withoutTrailing } from '../../base/text.js';

interface ForwardRequest {
  /** The result of `pathOf`, never the path that a sender requested. */
  path: string;
  contentType: string | undefined;
  body: Buffer;
}

export type Forward = (request: ForwardRequest) => Promise<Acknowledgement>;

interface ForwarderOptions {
  /** Called with the first request, because the port of the service's own listener is known only after it is bound. */
  downstreamUrl(): string;
  timeoutMs: number;
}

/**
 * Creates a function that forwards bodies to the downstream service unchanged, with only the header `Content-Type`.
 * @throws AppError `upstream_unreachable` without a valid response or for a redirect, `upstream_timeout`
 */
export function createForwarder({ downstreamUrl, timeoutMs }: ForwarderOptions): Forward {
  // Undici's own timeouts are disabled, because they would differ from the configured deadline.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: timeoutMs } });
  let base: { origin: string; prefix: string } | undefined;
  return async ({ path, contentType, body }) => {
    base ??= baseOf(downstreamUrl());
    const options: Dispatcher.DispatchOptions = {
      origin: base.origin,
      path: base.prefix + path,
      method: 'POST',
      headers: contentType === undefined ? {} : { 'content-type': contentType },
      body,
    };
    try {
      const answer = await exchange(agent, options, { timeoutMs, maxBytes: acknowledgementLimit });
      if (answer.status >= 300 && answer.status < 400) {
        throw new AppError(
          'upstream_unreachable',
          'the downstream service answered with a redirect, which is not followed',
        );
      }
      return await acknowledgementOf(answer.status, answer.contentType, answer.body, body);
    } catch (error) {
      throw refusalOf(error);
    }
  };
}

function baseOf(url: string): { origin: string; prefix: string } {
  const { origin, pathname } = new URL(url);
  return { origin, prefix: withoutTrailing(pathname, '/') };
}

function refusalOf(error: unknown): AppError {
  if (isAppError(error)) return error;
  if (isOutboundError(error) && error.code === 'timeout') {
    return new AppError('upstream_timeout', 'the downstream service did not answer in time', { cause: error });
  }
  return new AppError('upstream_unreachable', 'the downstream service could not be reached', { cause: error });
}
