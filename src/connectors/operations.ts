import type { ConnectorCategory } from './connector.js';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type FieldType = 'string' | 'number' | 'integer' | 'array' | 'any';

export interface OperationField {
  field_id: string;
  type: FieldType;
  required: boolean;
}

/** What a category can do by name: for the account provider's API where, for mail what it takes. */
export interface Operation {
  method: Method;
  /** Below `account_api_url`; `{name}` is filled in from the input, encoded, and left out of query and body. */
  path: string;
  fields: OperationField[];
}

const sendMessage = operation('POST', '/chats/{chat_id}/messages', 'chat_id!', 'text!');
const startChat = operation('POST', '/chats', 'account_id!', 'attendees_ids:array!', 'text!');
const listChats = operation('GET', '/chats', 'account_id', 'limit:integer', 'cursor');
const listMessages = operation('GET', '/chats/{chat_id}/messages', 'chat_id!', 'limit:integer', 'cursor');

export const operations: Record<Exclude<ConnectorCategory, 'restful'>, Record<string, Operation>> = {
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
  const known: Readonly<Record<string, Operation>> | undefined = Object.hasOwn(operations, category) ? operations[category as keyof typeof operations] : undefined;
  return known && Object.hasOwn(known, name) ? known[name] : undefined;
}

/**
 * What an action's endpoint may be: an http(s) URL with a literal host, a path below the connector's base URL or, for the
 * account provider's categories, the name of an operation. Mail looks at none.
 */
export function endpointProblem(category: ConnectorCategory, endpoint: string): string | undefined {
  if (category === 'mail' || /^\/(?![/\\])/.test(endpoint) || isHttpUrl(endpoint)) return undefined;
  if (category === 'restful') return 'must be an http(s) URL, or a path below the base URL of the connector; after the host it may hold Liquid templates';
  return operationOf(category, endpoint) ? undefined : `must be an address of the account provider's API, or one of ${Object.keys(operations[category]).join(', ')}`;
}

/** Whom an action calls is the author's own word: scheme, host and port hold no template. */
function isHttpUrl(endpoint: string): boolean {
  const rendered = endpoint.replace(/\{\{.*?\}\}|\{%.*?%\}/gs, '1');
  return /^https?:\/\/[^/?#\\{}\s]+(?=[/?#]|$)/i.test(endpoint) && URL.canParse(rendered);
}

/** A field is written `name` or `name:type`, with a `!` behind it where it is required. */
function operation(method: Method, path: string, ...fields: string[]): Operation {
  return { method, path, fields: fields.map(fieldOf) };
}

function fieldOf(text: string): OperationField {
  const required = text.endsWith('!');
  const [field_id = '', type = 'string'] = text.replace(/!$/, '').split(':');
  return { field_id, type: type as FieldType, required };
}
