import type { ConnectorCategory } from '../record.js';
import { operations, type Operation } from './named-operations.js';

export function operationOf(category: string, name: string): Operation | undefined {
  const known: Readonly<Record<string, Operation>> | undefined = Object.hasOwn(operations, category)
    ? operations[category as keyof typeof operations]
    : undefined;
  return known && Object.hasOwn(known, name) ? known[name] : undefined;
}

const agentflowId = /^[A-Za-z0-9_.-]{1,100}$/;

/** The names that the protocol allows. */
export const mcpToolName = /^[A-Za-z0-9_./-]{1,128}$/;

/**
 * Checks an action's endpoint: an http(s) URL with a literal host, a path relative to the connector's base URL or, for the
 * categories of the account provider, the name of an operation. Mail ignores the endpoint. For an MCP server it
 * is the name of a tool, and for another agentflow its id.
 */
export function endpointProblem(category: ConnectorCategory | 'agentflow', endpoint: string): string | undefined {
  if (category === 'agentflow')
    return agentflowId.test(endpoint) ? undefined : 'must be the id of an agentflow of the project';
  if (category === 'mcp')
    return mcpToolName.test(endpoint) ? undefined : 'must be the name of a tool of the MCP server';
  if (category === 'mail' || /^\/(?![/\\])/.test(endpoint) || isHttpUrl(endpoint)) return undefined;
  if (category === 'restful')
    return 'must be an http(s) URL or a path relative to the base URL of the connector, with Liquid templates only after the host';
  return operationOf(category, endpoint)
    ? undefined
    : `must be a URL of the account provider's API, or one of ${Object.keys(operations[category]).join(', ')}`;
}

/** Scheme, host and port must not contain templates, so that input cannot change which server is called. */
function isHttpUrl(endpoint: string): boolean {
  return /^https?:\/\/[^/?#\\{}\s]+(?=[/?#]|$)/i.test(endpoint) && URL.canParse(withExampleValues(endpoint));
}

/** Replaces each Liquid tag with `1`. */
function withExampleValues(endpoint: string): string {
  const [beginning = '', ...tagsWithText] = endpoint.split(/\{[{%]/);
  const rest = tagsWithText.map((part) => {
    const end = part.search(/[}%]\}/);
    return end === -1 ? '' : `1${part.slice(end + 2)}`;
  });
  return beginning + rest.join('');
}
