import type { ConnectorCategory } from '../record.js';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type FieldType = 'string' | 'number' | 'integer' | 'array' | 'any';

interface OperationField {
  field_id: string;
  type: FieldType;
  required: boolean;
}

/** A named operation of a category. */
interface Operation {
  method: Method;
  /** Relative to `account_api_url`. `{name}` is replaced with the encoded input, which is then omitted from query and body. Empty for mail. */
  path: string;
  fields: OperationField[];
}

const sendMessage = operation('POST', '/chats/{chat_id}/messages', 'chat_id!', 'text!');
const startChat = operation('POST', '/chats', 'account_id!', 'attendees_ids:array!', 'text!');
const listChats = operation('GET', '/chats', 'account_id', 'limit:integer', 'cursor');
const listMessages = operation('GET', '/chats/{chat_id}/messages', 'chat_id!', 'limit:integer', 'cursor');

export const operations: Record<Exclude<ConnectorCategory, 'restful' | 'mcp'>, Record<string, Operation>> = {
  messaging: { send_message: sendMessage, start_chat: startChat, list_chats: listChats, list_messages: listMessages },
  professional_network: {
    get_profile: operation('GET', '/users/{identifier}', 'identifier!', 'account_id!'),
    send_invitation: operation('POST', '/users/invite', 'account_id!', 'provider_id!', 'message'),
    list_relations: operation('GET', '/users/relations', 'account_id!', 'limit:integer', 'cursor'),
    send_message: sendMessage,
    start_chat: startChat,
  },
  content_creator: {
    create_post: operation('POST', '/posts', 'account_id!', 'text!'),
    get_post: operation('GET', '/posts/{post_id}', 'post_id!', 'account_id'),
    comment_on_post: operation('POST', '/posts/{post_id}/comments', 'post_id!', 'account_id!', 'text!'),
    list_posts: operation('GET', '/users/{identifier}/posts', 'identifier!', 'account_id!', 'limit:integer', 'cursor'),
  },
  mail: { send: operation('POST', '', 'to:any!', 'cc:any', 'bcc:any', 'subject', 'text', 'html') },
};

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

/** Fields have the form `name` or `name:type`, followed by `!` if required. */
function operation(method: Method, path: string, ...fields: string[]): Operation {
  return { method, path, fields: fields.map(fieldOf) };
}

function fieldOf(text: string): OperationField {
  const required = text.endsWith('!');
  const [field_id = '', type = 'string'] = text.replace(/!$/, '').split(':');
  return { field_id, type: type as FieldType, required };
}
