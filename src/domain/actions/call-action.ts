import { openConfig, findConnector } from '../connectors/operations/store.js';
import { recordUse } from '../connectors/operations/uses.js';
import { AppError } from '../../base/errors.js';
import { answerGate, checkJson } from '../../base/json-gate.js';
import type { Operation } from '../../governance/operations/operation.js';
import type { CallActionRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import { accountProvider } from './account-provider.js';
import { actHttp, actMail, actMcp, actMessage } from './act-operations.js';
import type { ActionCall, ActionDeps, ActionExecutor, OnRedirect, OpenConnector, PreparedCall } from './action-call.js';
import { checkOutput } from './action-fields.js';
import { createTokenSource } from './access-tokens.js';
import { mail } from './mail.js';
import { mcp } from './mcp.js';
import { restful } from './restful.js';
import { hideSecrets } from '../../outbound/hide-secrets.js';

/** The operation that governs each category, and the function that makes its calls. */
const categories: ReadonlyMap<string, { operation: Operation; execute: ActionExecutor }> = new Map([
  ['restful', { operation: actHttp, execute: restful }],
  ['mail', { operation: actMail, execute: mail }],
  ['messaging', { operation: actMessage, execute: accountProvider }],
  ['professional_network', { operation: actMessage, execute: accountProvider }],
  ['content_creator', { operation: actMessage, execute: accountProvider }],
  ['mcp', { operation: actMcp, execute: mcp }],
]);

export type CallOptions = Pick<ActionCall, 'signal' | 'maxBytes' | 'onProgress' | 'note' | 'stepEndsAt'>;

/** An action that is ready to be called, and the operation that governs it. */
export interface PreparedAction extends Omit<PreparedCall, 'send'> {
  operation: Operation;
  /** Sends the call, checks the answer, and hides the connector's secrets in it. */
  send(onRedirect?: OnRedirect): Promise<unknown>;
}

export type PrepareAction = (request: CallActionRequest, options: CallOptions) => Promise<PreparedAction>;
type CallAction = (request: CallActionRequest, options: CallOptions) => Promise<unknown>;

/** Prepares an action by its category, without side effects. */
export function createPrepareAction(deps: Omit<ActionDeps, 'tokens'>): PrepareAction {
  const executing: ActionDeps = { ...deps, tokens: createTokenSource(deps.http) };
  return async (request, options) => {
    const { action } = request;
    const category = categories.get(action.category);
    if (!category)
      throw new AppError(
        'validation_failed',
        `the action "${action.name}" has the unknown category ${action.category}`,
      );
    const connector = await connectorOf(executing, request);
    const { send, ...prepared } = await category.execute(executing, { request, connector, ...options });
    options.note?.({ input: prepared.input });
    return {
      ...prepared,
      operation: category.operation,
      async send(onRedirect) {
        options.note?.({ request: prepared.exact });
        const { value, secrets } = connector
          ? await recordUse(deps.mongo.collections, connector.id, options.signal, () => send(onRedirect))
          : await send(onRedirect);
        // First, because the rest walks the value to any depth.
        checkJson(value, answerGate(`the answer of the action "${action.name}"`));
        // Histories and records keep answers.
        const output = hideSecrets(value, secrets);
        options.note?.({ output });
        checkOutput(action, value);
        return output;
      },
    };
  };
}

/** Calls an action for the product itself, such as a connector's data loader. Agents call actions as acts (`act.ts`). */
export function createCallAction(prepare: PrepareAction): CallAction {
  return async (request, options) => (await prepare(request, options)).send();
}

/** @throws AppError `not_found` (deleted, or in another project), `unconfigured` (not active), `validation_failed` (category) */
async function connectorOf({ mongo, secrets }: ActionDeps, request: CallActionRequest): Promise<OpenConnector | null> {
  const { action, project_id, connector_id: id } = request;
  if (id === null) return null;
  const connector = await findConnector(mongo.collections, id);
  if (!connector || connector.projectID !== project_id)
    throw new AppError('not_found', `the connector of "${action.name}" was not found`);
  if (connector.category !== action.category) {
    throw new AppError(
      'validation_failed',
      `the action "${action.name}" has the category ${action.category}, but its connector has ${connector.category}`,
    );
  }
  if (connector.status !== 'active')
    throw new AppError('unconfigured', `the connector of "${action.name}" is ${connector.status}, not active`);
  return {
    id,
    organization_id: connector.organization_id,
    sealed: connector.config_sealed,
    account_id: connector.account?.id,
    config: openConfig(secrets, connector),
  };
}
