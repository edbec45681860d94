import { AccountConfig } from '../connectors/rules/config.js';
import { operationOf } from '../connectors/rules/provider-operations.js';
import { AppError } from '../../base/errors.js';
import type { ActionExecutor } from './action-call.js';
import { inputOf } from './action-fields.js';
import { exchange, preparedHttp } from './restful.js';
import { operationCall, restfulCall } from './restful-call.js';

const timeoutMs = 100_000;

/**
 * Calls an action of a connected account through the HTTP API of its provider. The endpoint is the name of an operation
 * of the category, or a path of the API. The default of the input `account_id` is the account of the connector.
 */
export const accountProvider: ActionExecutor = (deps, call) => {
  const { request, connector } = call;
  const { action } = request;
  const { account_api_url: base, account_api_token: token } = AccountConfig.safeParse(connector?.config).data ?? {};
  if (base === undefined)
    throw new AppError('unconfigured', `the action "${action.name}" needs a connector with an account_api_url`);
  const operation = operationOf(action.category, action.endpoint);
  const own = connector?.account_id === undefined ? {} : { account_id: connector.account_id };
  const made = operation
    ? operationCall(request, base, operation, inputOf(request, operation.fields, own))
    : restfulCall(request, base);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const options = { timeoutMs, credentials: { below: base, headers } };
  return preparedHttp(made, (onRedirect) => exchange(deps, { ...call, onRedirect }, made, options));
};
