import {
  configureConnector,
  configureMcpConnector,
  deleteConnector,
  listConnectors,
  listTriggerActions,
  readConnector,
  readConnectorConfig,
  readProviderParams,
  setConnectorStatus,
  updateConnector,
} from '../../domain/connectors/operations.js';
import {
  acceptMcpTools,
  beginMcpAuthorization,
  completeMcpAuthorization,
  listMcpTools,
  readMcpAuthorization,
  withdrawMcpAuthorization,
} from '../../domain/mcp-servers/operations.js';
import { testConnector } from '../../domain/actions/operations.js';
import { operationRoute, type Route } from '../rest/define-route.js';

const tag = 'connectors';
const inDevelopment = 'In development: the shape may still change.';

/** Connectors with their pins, triggers and data loaders (contract, connectors; specification, Connector configuration). */
export const connectorRoutes: readonly Route[] = [
  operationRoute({
    method: 'post',
    path: '/actions/{category}/config',
    operation: configureConnector,
    tag,
    summary: 'Create a connector',
    description: `${inDevelopment} It is active immediately if its \`config\` is complete. Otherwise it is pending until an account is connected or its status is set.`,
    response: { description: 'The connector, with its callback path if it has one.' },
    idempotent: true,
  }),
  operationRoute({
    method: 'get',
    path: '/actions/{category}/config',
    operation: readConnectorConfig,
    tag,
    summary: 'Read the configuration of a connector',
    description: inDevelopment,
    response: { description: 'The connector without its secrets.' },
  }),
  operationRoute({
    method: 'get',
    path: '/actions/professional_network/params',
    operation: readProviderParams,
    tag,
    summary: "Read the parameters of the account provider's professional network",
    response: { description: 'The parameters, whether they are set, and the operations.' },
  }),
  operationRoute({
    method: 'get',
    path: '/actions/triggers',
    operation: listTriggerActions,
    tag,
    summary: 'List all trigger actions',
    response: { description: 'All trigger actions, on one page.' },
  }),
  operationRoute({
    method: 'get',
    path: '/connectors/{projectID}',
    operation: listConnectors,
    tag,
    summary: 'List the connectors of a project, newest first',
    response: { description: 'One page of connectors.' },
  }),
  operationRoute({
    method: 'get',
    path: '/connectors/{projectID}/{connector_id}',
    operation: readConnector,
    tag,
    summary: 'Read a connector',
    response: { description: 'The connector without its secrets.' },
  }),
  operationRoute({
    method: 'post',
    path: '/connectors/{projectID}/{connector_id}/test',
    operation: testConnector,
    tag,
    summary: 'Make a test call with a connector',
    description:
      'Sends a GET with the credentials of an HTTP connector. For policies it is `act.http`. The answer of the API, or why there is none, is the result.',
    response: { description: 'The result of the call.' },
    idempotent: true,
  }),
  operationRoute({
    method: 'patch',
    path: '/connectors/{projectID}/{connector_id}',
    operation: updateConnector,
    tag,
    summary: 'Change the given fields of a connector',
    description:
      'Validated as at creation. Triggers that keep their `trigger_id` keep their callback path. A changed data loader loads immediately.',
    response: { description: 'The changed connector.' },
  }),
  operationRoute({
    method: 'delete',
    path: '/connectors/{projectID}/{connector_id}',
    operation: deleteConnector,
    tag,
    summary: 'Delete a connector',
    description: 'Also deletes its secrets, pin, triggers and data loader. Its callbacks return 404.',
    response: { description: 'The last record.' },
  }),
  operationRoute({
    method: 'post',
    path: '/connectors/{projectID}/{connector_id}/status',
    operation: setConnectorStatus,
    tag,
    summary: 'Set the status of a connector',
    description:
      'Allowed changes: pending to active, active to paused, paused to active, failed to pending, and awaiting_verification to active, failed or pending. Actions, callbacks and data loaders do not use a paused connector.',
    response: { description: 'The changed connector.' },
  }),
  operationRoute({
    method: 'post',
    path: '/connectors/{projectID}/mcp',
    operation: configureMcpConnector,
    tag,
    summary: 'Create a connector to an MCP server',
    description:
      'Give either `url` (Streamable HTTP) or `command`, a name in `MCP_STDIO_COMMANDS` of the workers. Agents can use the tools of the server after a person has accepted them.',
    response: { description: 'The connector without its secrets.' },
    idempotent: true,
  }),
  operationRoute({
    method: 'get',
    path: '/connectors/{projectID}/{connector_id}/tools',
    operation: listMcpTools,
    tag,
    summary: 'Read the tools of an MCP server',
    description:
      'A worker asks the server for its tools. Each is shown as the server offers it and as it was accepted, with the difference. Accepted tools that the server changed become suspended.',
    response: { description: 'The tools, by name.' },
  }),
  operationRoute({
    method: 'post',
    path: '/connectors/{projectID}/{connector_id}/tools/accept',
    operation: acceptMcpTools,
    tag,
    summary: 'Accept tools of an MCP server',
    description:
      'Pins the definitions that the server offers now. `hash` is that of the list that was read, so that only what a person saw is accepted.',
    response: { description: 'The tools, by name.' },
  }),
  operationRoute({
    method: 'get',
    path: '/connectors/{projectID}/{connector_id}/authorize',
    operation: readMcpAuthorization,
    tag,
    summary: 'Read the authorization for an MCP server',
    description: "The caller's own, or that of the project if `auth.owner` is `project`. Tokens are never returned.",
    response: { description: 'The state of the authorization.' },
  }),
  operationRoute({
    method: 'post',
    path: '/connectors/{projectID}/{connector_id}/authorize',
    operation: beginMcpAuthorization,
    tag,
    summary: 'Begin to authorize an MCP server',
    description:
      'For a connector with `auth.type` `oauth`. The person opens the address in a browser, in which they are or become signed in to the console. The authorization server sends them to `/console/mcp-servers/authorized`, which completes the authorization.',
    response: { description: 'Where the person grants access.' },
  }),
  operationRoute({
    method: 'post',
    path: '/connectors/{projectID}/{connector_id}/authorize/complete',
    operation: completeMcpAuthorization,
    tag,
    summary: 'Complete the authorization of an MCP server',
    description:
      'For clients that receive the answer of the authorization server themselves. `state` can be used once, by the person who began, for this connector.',
    response: { description: 'The state of the authorization.' },
  }),
  operationRoute({
    method: 'delete',
    path: '/connectors/{projectID}/{connector_id}/authorize',
    operation: withdrawMcpAuthorization,
    tag,
    summary: 'Withdraw the authorization for an MCP server',
    description:
      'Deletes the tokens, and revokes them at an authorization server with a `revocation_endpoint`; later if it does not answer.',
    response: { description: 'The state of the authorization.' },
  }),
];
