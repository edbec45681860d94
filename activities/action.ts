import { openConfig, findConnector } from '../src/connectors/store.js';
import { AppError } from '../src/errors.js';
import type { AgentflowExecutionActivities, CallActionRequest } from '../workflows/agentflow-execution/activities.js';
import { accountProvider } from './account-provider.js';
import type { ActionCall, ActionDeps, ActionExecutor, OpenConnector } from './action-call.js';
import { checkOutput } from './action-fields.js';
import { createTokenSource } from './access-tokens.js';
import { mail } from './mail.js';
import { restful } from './restful.js';
import { asStep } from './step.js';
import { hidden } from './hidden-secrets.js';

/** What a category does; each gets the action's request and its opened connector. */
const executors: ReadonlyMap<string, ActionExecutor> = new Map([
  ['restful', restful],
  ['mail', mail],
  ['messaging', accountProvider],
  ['professional_network', accountProvider],
  ['content_creator', accountProvider],
]);

export type CallAction = (request: CallActionRequest, options: Pick<ActionCall, 'signal' | 'maxBytes'>) => Promise<unknown>;

/** One call of an action. */
export function createActionActivities(callAction: CallAction): Pick<AgentflowExecutionActivities, 'callAction'> {
  return { callAction: (request) => asStep((signal) => callAction(request, { signal })) };
}

/**
 * Calls an action by its category and checks the answer. Secrets of the connector that the answer repeats are hidden
 * in it, since answers are kept in histories and records.
 */
export function createCallAction(deps: Omit<ActionDeps, 'tokens'>): CallAction {
  const executing: ActionDeps = { ...deps, tokens: createTokenSource(deps.http) };
  return async (request, options) => {
    const { action } = request;
    const execute = executors.get(action.category);
    if (!execute) throw new AppError('validation_failed', `the action "${action.name}" has the unknown category ${action.category}`);
    const connector = await connectorOf(executing, request);
    const output = await execute(executing, { request, connector, ...options });
    checkOutput(action, output.value);
    return hidden(output.value, output.secrets);
  };
}

/** @throws AppError `not_found` (gone, or of another project), `unconfigured` (not active), `validation_failed` (category) */
async function connectorOf({ mongo, secrets }: ActionDeps, request: CallActionRequest): Promise<OpenConnector | null> {
  const { action, project_id } = request;
  // A run that began before skills had connectors sends none.
  const id = request.connector_id ?? null;
  if (id === null) return null;
  const connector = await findConnector(mongo.collections, id);
  if (!connector || connector.projectID !== project_id) throw new AppError('not_found', `the connector of "${action.name}" was not found`);
  if (connector.category !== action.category) {
    throw new AppError('validation_failed', `the action "${action.name}" is of the category ${action.category}, its connector of ${connector.category}`);
  }
  if (connector.status !== 'active') throw new AppError('unconfigured', `the connector of "${action.name}" is ${connector.status}, not active`);
  return { id, sealed: connector.config_sealed, account_id: connector.account?.id, config: openConfig(secrets, connector) };
}
