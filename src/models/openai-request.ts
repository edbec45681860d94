import type { ChatRequest, ChatTool, ChatToolCall, ConversationMessage } from './port.js';
import { toolSchemaOf } from './tool-schema.js';
import { isJsonObject, parseJsonOrUndefined, type JsonObject } from '../base/json.js';
import { responseFormatOf, schemaInWords } from './response-format.js';

/**
 * What a request contains although an endpoint may refuse it. A request without all of these is the smallest that still
 * asks the same.
 */
export type Extra =
  | 'temperature'
  | 'max_tokens'
  | 'max_completion_tokens'
  | 'tool_choice'
  | 'strict'
  | 'response_format'
  | 'stream_options'
  | 'stream'
  | 'echo'
  | 'schema notes'
  | 'null content'
  | 'system role';

/** What an endpoint needs although the caller does not ask for it: a limit of tokens, the largest that it accepts. */
export type Need = 'limit' | 'small limit';

/** What is known of an endpoint: what it refuses, and what it needs. */
export interface Dialect {
  refuses: ReadonlySet<Extra>;
  needs?: Need | undefined;
}

export const fullDialect: Dialect = { refuses: new Set() };

/** For endpoints that need a limit. Models that think use several thousand tokens before the first word. */
export const neededLimits: Record<Need, number> = { limit: 16_384, 'small limit': 4096 };

/** Builds the body of `POST /chat/completions`. */
export function bodyOf(request: ChatRequest, { refuses, needs }: Dialect): JsonObject {
  const { model, temperature, conversation = [], tools = [], toolChoice, outputSchema } = request;
  const limit = request.maxTokens || (needs ? neededLimits[needs] : 0);
  const limitName = (['max_tokens', 'max_completion_tokens'] as const).find((name) => !refuses.has(name));
  const isStreamed = !refuses.has('stream');
  const format =
    outputSchema && !refuses.has('response_format') && responseFormatOf(outputSchema, !refuses.has('strict'));
  const messages = outputSchema && !format ? withSchema(request.messages, outputSchema) : request.messages;
  return {
    model,
    messages: [
      ...(refuses.has('system role') ? withoutSystem(messages) : messages),
      ...conversation.map((message) => messageOf(message, model, refuses)),
    ],
    ...(temperature !== null && !refuses.has('temperature') && { temperature }),
    ...(limit > 0 && limitName && { [limitName]: limit }),
    ...(tools.length > 0 && { tools: tools.map((tool) => toolOf(tool, refuses)) }),
    ...(toolChoice !== undefined &&
      !refuses.has('tool_choice') && { tool_choice: { type: 'function', function: { name: toolChoice } } }),
    ...(format && { response_format: format }),
    ...(isStreamed && { stream: true }),
    ...(isStreamed && !refuses.has('stream_options') && { stream_options: { include_usage: true } }),
  };
}

/** Adds the schema to the last message. */
function withSchema(messages: ChatRequest['messages'], schema: JsonObject): ChatRequest['messages'] {
  const last = messages.length - 1;
  return messages.map((message, at) =>
    at === last ? { ...message, content: `${message.content}\n\n${schemaInWords(schema)}` } : message,
  );
}

/** The system message becomes the beginning of the user's. */
function withoutSystem(messages: ChatRequest['messages']): ChatRequest['messages'] {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const others = messages.filter(({ role }) => role !== 'system');
  const [first, ...rest] = others;
  return [{ role: 'user', content: [...system, ...(first ? [first.content] : [])].join('\n\n') }, ...rest];
}

function messageOf(message: ConversationMessage, model: string, refuses: ReadonlySet<Extra>): JsonObject {
  if (message.role !== 'assistant') return { ...message };
  const { content, tool_calls, echo } = message;
  const isSent = echo?.model === model && !refuses.has('echo');
  const empty = refuses.has('null content') ? '' : null;
  return {
    role: 'assistant',
    content: content === '' ? empty : content,
    ...(isSent && echo.fields),
    ...(tool_calls.length > 0 && { tool_calls: tool_calls.map((call) => callOf(call, isSent)) }),
  };
}

/** Replaces arguments that are not a JSON object, because some endpoints refuse a conversation that contains them. */
function callOf({ id, name, arguments: text, echo }: ChatToolCall, hasEcho: boolean): JsonObject {
  const { function: inner, ...outer } = (hasEcho && echo) || {};
  return {
    ...outer,
    id,
    type: 'function',
    function: {
      ...(isJsonObject(inner) && inner),
      name,
      arguments: isJsonObject(parseJsonOrUndefined(text)) ? text : '{}',
    },
  };
}

function toolOf(tool: ChatTool, refuses: ReadonlySet<Extra>): JsonObject {
  const schema = toolSchemaOf(tool);
  const parameters = refuses.has('schema notes') ? withoutNotes(schema) : schema;
  return { type: 'function', function: { name: tool.name, description: tool.description, parameters } };
}

/** The keywords of JSON Schema that some endpoints do not know, and without which a schema still says the same fields. */
export const schemaNotes: ReadonlySet<string> = new Set([
  ...['additionalProperties', '$schema', '$id', 'title', 'default', 'examples', 'format', 'pattern', '$comment'],
  ...['minLength', 'maxLength', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'propertyNames', 'uniqueItems'],
]);

/** Leaves fields that have the name of a keyword. */
function withoutNotes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutNotes);
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => !schemaNotes.has(name))
      .map(([name, value]) => [name, name === 'properties' ? withoutNotesOfFields(value) : withoutNotes(value)]),
  );
}

function withoutNotesOfFields(fields: unknown): unknown {
  if (!isJsonObject(fields)) return fields;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, withoutNotes(value)]));
}
