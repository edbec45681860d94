import * as connectors from '../../domain/connectors/operations.js';
import * as mcpServers from '../../domain/mcp-servers/operations.js';
import { testConnector } from '../../domain/actions/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('connectors');
const inDevelopment = 'In development: the shape may still change.';

/** Connectors with their pins, triggers and data loaders (contract, connectors; specification, Connector configuration). */
export const connectorRoutes: readonly Route[] = [
  route('POST /actions/{category}/config', connectors.configureConnector, {
    summary: 'Create a connector',
    description: `${inDevelopment} It is active immediately if its \`config\` is complete. Otherwise it is pending until an account is connected or its status is set.`,
    response: { description: 'The connector, with its callback path if it has one.' },
    idempotent: true,
  }),
  route('GET /actions/{category}/config', connectors.readConnectorConfig, {
    summary: 'Read the configuration of a connector',
    description: inDevelopment,
    response: { description: 'The connector without its secrets.' },
  }),
  route('GET /actions/professional_network/params', connectors.readProviderParams, {
    summary: "Read the parameters of the account provider's professional network",
    response: { description: 'The parameters, whether they are set, and the operations.' },
  }),
  route('GET /actions/triggers', connectors.listTriggerActions, {
    summary: 'List all trigger actions',
    response: { description: 'All trigger actions, on one page.' },
  }),
  route('GET /connectors/{projectID}', connectors.listConnectors, {
    summary: 'List the connectors of a project, newest first',
    response: { description: 'One page of connectors.' },
  }),
  route('GET /connectors/{projectID}/{connector_id}', connectors.readConnector, {
    summary: 'Read a connector',
    response: { description: 'The connector without its secrets.' },
  }),
  route('POST /connectors/{projectID}/{connector_id}/test', testConnector, {
    summary: 'Make a test call with a connector',
    description:
      'Sends a GET with the credentials of an HTTP connector. For policies it is `act.http`. The answer of the API, or why there is none, is the result.',
    response: { description: 'The result of the call.' },
    idempotent: true,
  }),
  route('PATCH /connectors/{projectID}/{connector_id}', connectors.updateConnector, {
    summary: 'Change the given fields of a connector',
    description:
      'Validated as at creation. Triggers that keep their `trigger_id` keep their callback path. A changed data loader loads immediately.',
    response: { description: 'The changed connector.' },
  }),
  route('DELETE /connectors/{projectID}/{connector_id}', connectors.deleteConnector, {
    summary: 'Delete a connector',
    description: 'Also deletes its secrets, pin, triggers and data loader. Its callbacks return 404.',
    response: { description: 'The last record.' },
  }),
  route('POST /connectors/{projectID}/{connector_id}/status', connectors.setConnectorStatus, {
    summary: 'Set the status of a connector',
    description:
      'Allowed changes: pending to active, active to paused, paused to active, failed to pending, and awaiting_verification to active, failed or pending. Actions, callbacks and data loaders do not use a paused connector.',
    response: { description: 'The changed connector.' },
  }),
  route('POST /connectors/{projectID}/mcp', connectors.configureMcpConnector, {
    summary: 'Create a connector to an MCP server',
    description:
      'Give either `url` (Streamable HTTP) or `command`, a name in `MCP_STDIO_COMMANDS` of the workers. Agents can use the tools of the server after a person has accepted them.',
    response: { description: 'The connector without its secrets.' },
    idempotent: true,
  }),
  route('GET /connectors/{projectID}/{connector_id}/tools', mcpServers.listMcpTools, {
    summary: 'Read the tools of an MCP server',
    description:
      'A worker asks the server for its tools. Each is shown as the server offers it and as it was accepted, with the difference. Accepted tools that the server changed become suspended.',
    response: { description: 'The tools, by name.' },
  }),
  route('POST /connectors/{projectID}/{connector_id}/tools/accept', mcpServers.acceptMcpTools, {
    summary: 'Accept tools of an MCP server',
    description:
      'Pins the definitions that the server offers now. `hash` is that of the list that was read, so that only what a person saw is accepted.',
    response: { description: 'The tools, by name.' },
  }),
  route('GET /connectors/{projectID}/{connector_id}/authorize', mcpServers.readMcpAuthorization, {
    summary: 'Read the authorization for an MCP server',
    description: "The caller's own, or that of the project if `auth.owner` is `project`. Tokens are never returned.",
    response: { description: 'The state of the authorization.' },
  }),
  route('POST /connectors/{projectID}/{connector_id}/authorize', mcpServers.beginMcpAuthorization, {
    summary: 'Begin to authorize an MCP server',
    description:
      'For a connector with `auth.type` `oauth`. The person opens the address in a browser, in which they are or become signed in to the console. The authorization server sends them to `/console/mcp-servers/authorized`, which completes the authorization.',
    response: { description: 'Where the person grants access.' },
  }),
  route('POST /connectors/{projectID}/{connector_id}/authorize/complete', mcpServers.completeMcpAuthorization, {
    summary: 'Complete the authorization of an MCP server',
    description:
      'For clients that receive the answer of the authorization server themselves. `state` can be used once, by the person who began, for this connector.',
    response: { description: 'The state of the authorization.' },
  }),
  route('DELETE /connectors/{projectID}/{connector_id}/authorize', mcpServers.withdrawMcpAuthorization, {
    summary: 'Withdraw the authorization for an MCP server',
    description:
      'Deletes the tokens, and revokes them at an authorization server with a `revocation_endpoint`; later if it does not answer.',
    response: { description: 'The state of the authorization.' },
  }),
  route('GET /connectors/{projectID}/{connector_id}/agreements', mcpServers.listMcpAgreements, {
    summary: 'List your agreements to the use of your account',
    description:
      'For a connector whose MCP server each person authorizes. A run whose agentflow or connectors other people changed uses your account only if you have agreed to exactly this content.',
    response: { description: 'Your agreements, newest first.' },
  }),
  route('GET /connectors/{projectID}/{connector_id}/agreements/runs/{execution_id}', mcpServers.readMcpAgreementOffer, {
    summary: 'Read what an agreement to the content of a run would permit',
    description: 'The run must act for you.',
    response: { description: 'The content, who changed it, and what you would agree to, in words.' },
  }),
  route('POST /connectors/{projectID}/{connector_id}/agreements', mcpServers.createMcpAgreement, {
    summary: 'Let runs of exactly this content use your account',
    description:
      'Only a signed-in person agrees. It covers your own runs and schedules. Runs that other people start, or whose calls they edit, never use your account. Every change of the agentflow, its skills or the configuration of its connectors makes other content.',
    response: { description: 'The agreement.' },
  }),
  route('DELETE /connectors/{projectID}/{connector_id}/agreements/{agreement_id}', mcpServers.deleteMcpAgreement, {
    summary: 'End an agreement',
    response: { description: 'The ended agreement.' },
  }),
];
