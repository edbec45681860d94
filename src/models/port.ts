/** A language model. All model calls go through this interface. */
export interface ChatModel {
  /**
   * @throws OutboundError `model_*`, `timeout` or `too_large`; AppError `unconfigured`; the signal's reason when it
   * aborts
   */
  complete(request: ChatRequest): Promise<ChatCompletion>;
}

export interface ChatRequest {
  /** If empty, the configured default is used. */
  model: string;
  /** If null, the request does not contain it. */
  temperature: number | null;
  /** If null or 0, the request sets no limit. */
  maxTokens: number | null;
  messages: ChatMessage[];
  tools?: readonly ChatTool[];
  /** The tool that the model must call. */
  toolChoice?: string;
  /** The JSON Schema of the value that the final answer should be. The caller checks the answer. */
  outputSchema?: Record<string, unknown>;
  /** The turns after `messages`: tool calls of the model, their results, and refused answers. */
  conversation?: readonly ConversationMessage[];
  material: ChatMaterial;
  signal: AbortSignal;
  idempotencyKey: string;
  /** Called with each piece of text, without thinking, when it arrives. A model that does not stream never calls it. */
  onText?: (text: string) => void;
}

export interface ChatMessage {
  role: 'system' | 'user';
  content: string;
}

export interface ChatTool {
  /** 1 to 64 characters: A-Z a-z 0-9 _ -. */
  name: string;
  description: string;
  fields: readonly ChatToolField[];
  /** The JSON Schema of the arguments, which replaces `fields`. */
  input_schema?: Record<string, unknown>;
}

export interface ChatToolField {
  field_id: string;
  label: string;
  /** `string`, `number`, `integer`, `boolean`, `object` or `array`. Any other type accepts any value. */
  type: string;
  required: boolean;
  description: string;
}

export interface ChatToolCall {
  id: string;
  name: string;
  /** The text that the model wrote, which may be invalid JSON. */
  arguments: string;
  /** Why the arguments cannot be used, although they are JSON. */
  problem?: string;
  /** Other fields of the call, which the endpoint gets back unchanged. */
  echo?: Record<string, unknown>;
}

/** Other fields of an answer, which the model gets back unchanged with the conversation. */
export interface AnswerEcho {
  /** The model that was asked. Another model does not get the fields. */
  model: string;
  fields: Record<string, unknown>;
}

export type ConversationMessage =
  | { role: 'assistant'; content: string; tool_calls: ChatToolCall[]; echo?: AnswerEcho }
  | { role: 'tool'; tool_call_id: string; content: string }
  | { role: 'user'; content: string };

/** The parts of the messages, for a model that works on parts instead of text. */
export interface ChatMaterial {
  title: string;
  goal: string;
  prompt: string;
  documents: { name: string; mime_type: string; text: string }[];
  outputs: { title: string; output: string }[];
  actions: { name: string; output: unknown }[];
}

export interface ChatCompletion {
  model: string;
  /** Without thinking. */
  content: string;
  /** The answer ended at its token limit. */
  is_cut?: true;
  /** What the model thought, if the endpoint shows it. */
  thinking?: string;
  /** Empty when the model has finished. */
  tool_calls: ChatToolCall[];
  echo?: AnswerEcho;
  /** The numbers that the endpoint reports, or estimates of about four characters per token. */
  usage: { input_tokens: number; output_tokens: number };
}
