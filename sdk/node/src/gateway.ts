import type { ToolAnswer, ToolInput, ToolName } from './call.js';
import { createGatewayMethods, type GatewayMethods, type Send } from './methods.js';
import type { CallOptions, SendRequest, Transport } from './transport.js';
import type { DryRun } from './types.js';

/**
 * Calls of the context gateway. Each call rejects with `ServiceError` if the service refuses it, or if a policy holds
 * it for approval (status 202).
 */
export interface Gateway extends GatewayMethods {
  /**
   * Sends a request to a route that this version of the client does not know. For known routes, use the typed
   * `client.call`.
   */
  request: SendRequest;
  /**
   * Calls any tool by its name, for example `call('docs', { topic: 'query' })`.
   * @param name - The part of the path after `/v1/`.
   * @param input - The fields of the body.
   * @param options - The options of this call.
   */
  call<T extends ToolName>(name: T, input: ToolInput<T>, options?: CallOptions): Promise<ToolAnswer<T>>;
  /**
   * Returns what a tool would do, without any effect.
   * @param name - The part of the path after `/v1/`.
   * @param input - The fields of the body.
   * @param options - The options of this call.
   */
  dryRun<T extends ToolName>(name: T, input: ToolInput<T>, options?: CallOptions): Promise<DryRun>;
}

export function createGateway(transport: Transport, send: Send): Gateway {
  return {
    ...createGatewayMethods(send),
    request: (method, path, parts = {}, options) =>
      transport.call('gateway', { method, path, isUnsafeToRepeat: method === 'POST', ...parts }, options),
    call: (name, input, options) => send('post', `/v1/${name}`, { body: input }, options),
    dryRun: (name, input, options) => send('post', `/v1/${name}`, { body: { ...input, dry_run: true } }, options),
  };
}
