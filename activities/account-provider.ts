import { AccountConfig } from '../src/connectors/config.js';
import { operationOf } from '../src/connectors/operations.js';
import { AppError } from '../src/errors.js';
import type { ActionExecutor } from './action-call.js';
import { inputOf } from './action-fields.js';
import { exchange } from './restful.js';
import { operationCall, restfulCall } from './restful-call.js';

const timeoutMs = 100_000;

/**
 * An action of a connected account through the HTTP API of its provider: the endpoint names one of the category's
 * operations, or is a path below the API. `account_id` is the connector's own account where the input names none.
 */
export const accountProvider: ActionExecutor = async (deps, call) => {
  const { request, connector } = call;
  const { action } = request;
  const { account_api_url: base, account_api_token: token } = AccountConfig.safeParse(connector?.config).data ?? {};
  if (base === undefined) throw new AppError('unconfigured', `the action "${action.name}" needs a connector with an account_api_url`);
  const operation = operationOf(action.category, action.endpoint);
  const own = connector?.account_id === undefined ? {} : { account_id: connector.account_id };
  const made = operation ? operationCall(request, base, operation, inputOf(request, operation.fields, own)) : restfulCall(request, base);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return exchange(deps, call, made, { timeoutMs, credentials: { below: base, headers } });
};
