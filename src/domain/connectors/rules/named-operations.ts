type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type FieldType = 'string' | 'number' | 'integer' | 'array' | 'any';

interface OperationField {
  field_id: string;
  type: FieldType;
  required: boolean;
}

/** The categories whose actions name an operation. */
type NamedCategory = 'messaging' | 'professional_network' | 'content_creator' | 'mail';

/** A named operation of a category. The console reads this file too, so it imports nothing. */
export interface Operation {
  method: Method;
  /** Relative to `account_api_url`. `{name}` is replaced with the encoded input, which is then omitted from query and body. Empty for mail. */
  path: string;
  fields: OperationField[];
}

const sendMessage = operation('POST', '/chats/{chat_id}/messages', 'chat_id!', 'text!');
const startChat = operation('POST', '/chats', 'account_id!', 'attendees_ids:array!', 'text!');
const listChats = operation('GET', '/chats', 'account_id', 'limit:integer', 'cursor');
const listMessages = operation('GET', '/chats/{chat_id}/messages', 'chat_id!', 'limit:integer', 'cursor');

export const operations: Record<NamedCategory, Record<string, Operation>> = {
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

/** Fields have the form `name` or `name:type`, followed by `!` if required. */
function operation(method: Method, path: string, ...fields: string[]): Operation {
  return { method, path, fields: fields.map(fieldOf) };
}

function fieldOf(text: string): OperationField {
  const required = text.endsWith('!');
  const [field_id = '', type = 'string'] = text.replace(/!$/, '').split(':');
  return { field_id, type: type as FieldType, required };
}
