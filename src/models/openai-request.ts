import type OpenAI from 'openai';
import type { ChatRequest, ChatTool, ChatToolCall, ConversationMessage } from './port.js';
import { toolSchemaOf } from './tool-schema.js';

type Body = OpenAI.ChatCompletionCreateParams;

/** How much of streaming an endpoint takes, from the most to the least. */
export const streamings = ['with usage', 'plain', 'none'] as const;
export type Streaming = (typeof streamings)[number];

/** The body of `POST /chat/completions`. */
export function bodyOf({ model, temperature, maxTokens, messages, conversation = [], tools = [] }: ChatRequest, streaming: Streaming): Body {
  return {
    model,
    temperature,
    messages: [...messages, ...conversation.map(messageOf)],
    // `max_tokens`, since many compatible endpoints do not know its successor.
    ...(maxTokens > 0 && { max_tokens: maxTokens }),
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(streaming !== 'none' && { stream: true as const }),
    ...(streaming === 'with usage' && { stream_options: { include_usage: true } }),
  };
}

function messageOf(message: ConversationMessage): OpenAI.ChatCompletionMessageParam {
  if (message.role === 'tool') return message;
  const { content, tool_calls } = message;
  return { role: 'assistant', content: content === '' ? null : content, ...(tool_calls.length > 0 && { tool_calls: tool_calls.map(callOf) }) };
}

/** Endpoints parse the arguments when they come back, and some refuse a conversation with arguments that are no object. */
function callOf({ id, name, arguments: text }: ChatToolCall): OpenAI.ChatCompletionMessageFunctionToolCall {
  return { id, type: 'function', function: { name, arguments: isJsonObject(text) ? text : '{}' } };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function toolOf(tool: ChatTool): OpenAI.ChatCompletionTool {
  return { type: 'function', function: { name: tool.name, description: tool.description, parameters: toolSchemaOf(tool) } };
}
