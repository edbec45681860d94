import type OpenAI from 'openai';
import type { ChatRequest, ChatTool, ChatToolCall, ConversationMessage } from './port.js';
import { toolSchemaOf } from './tool-schema.js';
import { isJsonObject, parseJsonOrUndefined } from '../json.js';

type Body = OpenAI.ChatCompletionCreateParams;

/** The kinds of streaming that an endpoint may support, the richest first. */
export const streamings = ['with usage', 'plain', 'none'] as const;
export type Streaming = (typeof streamings)[number];

/** Builds the body of `POST /chat/completions`. */
export function bodyOf(
  { model, temperature, maxTokens, messages, conversation = [], tools = [], toolChoice }: ChatRequest,
  streaming: Streaming,
): Body {
  return {
    model,
    temperature,
    messages: [...messages, ...conversation.map(messageOf)],
    // Many compatible endpoints do not support the successor of `max_tokens`.
    ...(maxTokens > 0 && { max_tokens: maxTokens }),
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(toolChoice !== undefined && { tool_choice: { type: 'function' as const, function: { name: toolChoice } } }),
    ...(streaming !== 'none' && { stream: true as const }),
    ...(streaming === 'with usage' && { stream_options: { include_usage: true } }),
  };
}

function messageOf(message: ConversationMessage): OpenAI.ChatCompletionMessageParam {
  if (message.role === 'tool') return message;
  const { content, tool_calls } = message;
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    ...(tool_calls.length > 0 && { tool_calls: tool_calls.map(callOf) }),
  };
}

/** Replaces arguments that are not a JSON object, because some endpoints refuse a conversation that contains them. */
function callOf({ id, name, arguments: text }: ChatToolCall): OpenAI.ChatCompletionMessageFunctionToolCall {
  return {
    id,
    type: 'function',
    function: { name, arguments: isJsonObject(parseJsonOrUndefined(text)) ? text : '{}' },
  };
}

function toolOf(tool: ChatTool): OpenAI.ChatCompletionTool {
  return {
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: toolSchemaOf(tool) },
  };
}
