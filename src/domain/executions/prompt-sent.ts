import type { ChatMessage, ChatRequest, ConversationMessage } from '../../models/port.js';

/** The prompt of a model turn, as people see it. */
export interface PromptSent {
  model: string;
  temperature: number | null;
  max_tokens: number | null;
  /** The names of the tools that the model may call. */
  tools: string[];
  messages: { role: string; content: string }[];
}

const maxTools = 100;
const newestTurns = 18;
const maxLength = 64 * 1024;
const textLimits = [32_000, 8000, 2000, 500];

/** The first messages and the newest turns, shortened until they fit into 64 KiB together. */
export function promptSent({
  model,
  temperature,
  maxTokens,
  tools = [],
  messages,
  conversation = [],
}: Pick<ChatRequest, 'model' | 'temperature' | 'maxTokens' | 'tools' | 'messages' | 'conversation'>): PromptSent {
  const left = conversation.length - newestTurns;
  const all = [
    ...messages.map(shownMessage),
    ...(left > 0 ? [{ role: 'note', content: `${left} earlier turns are not kept` }] : []),
    ...conversation.slice(-newestTurns).map(shownMessage),
  ];
  const fits = (limit: number) =>
    all.reduce((sum, { content }) => sum + Math.min(content.length, limit), 0) <= maxLength;
  const limit = textLimits.find(fits) ?? 0;
  return {
    model,
    temperature,
    max_tokens: maxTokens,
    tools: tools.slice(0, maxTools).map(({ name }) => name),
    messages: all.map(({ role, content }) => ({ role, content: cut(content, limit) })),
  };
}

function shownMessage(message: ChatMessage | ConversationMessage): { role: string; content: string } {
  const calls = 'tool_calls' in message ? message.tool_calls : [];
  const texts = [message.content, ...calls.map((call) => `calls ${call.name} ${call.arguments}`)];
  return { role: message.role, content: texts.filter((text) => text !== '').join('\n') };
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)} … (${text.length} characters)`;
}
