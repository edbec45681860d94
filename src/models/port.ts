/** The one way to a language model. */
export interface ChatModel {
  /** @throws OutboundError `model_*`, `timeout` or `too_large`, AppError `unconfigured`; the signal's reason when it aborts */
  complete(request: ChatRequest): Promise<ChatCompletion>;
}

export interface ChatRequest {
  /** Empty: the configured default. */
  model: string;
  temperature: number;
  /** 0: no limit of ours. */
  maxTokens: number;
  messages: ChatMessage[];
  /** What the model may call. */
  tools?: readonly ChatTool[];
  /** What followed on the messages so far: calls of the model, and what they gave back. */
  conversation?: readonly ConversationMessage[];
  material: ChatMaterial;
  signal: AbortSignal;
  idempotencyKey: string;
  /** Told the words of the answer as they come; a model that answers at once does not call it. */
  onText?: (text: string) => void;
}

export interface ChatMessage {
  role: 'system' | 'user';
  content: string;
}

export interface ChatTool {
  /** 1 to 64 of A-Z a-z 0-9 _ -. */
  name: string;
  description: string;
  fields: readonly ChatToolField[];
}

export interface ChatToolField {
  field_id: string;
  label: string;
  /** `string`, `number`, `integer`, `boolean`, `object` or `array`; of any other name: any value. */
  type: string;
  required: boolean;
  description: string;
}

export interface ChatToolCall {
  id: string;
  name: string;
  /** JSON text as the model wrote it, or what it wrote instead. */
  arguments: string;
}

export type ConversationMessage =
  | { role: 'assistant'; content: string; tool_calls: ChatToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string };

/** What the messages were made of, for a model that works on the parts and not on the text. */
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
  content: string;
  /** Empty when the model has said its last word. */
  tool_calls: ChatToolCall[];
  /** As the endpoint counts; about four characters a token where it does not. */
  usage: { input_tokens: number; output_tokens: number };
}
