/** The one way to a language model. */
export interface ChatModel {
  /** @throws OutboundError `model_*` or `timeout`, AppError `unconfigured`; the signal's reason when it aborts */
  complete(request: ChatRequest): Promise<ChatCompletion>;
}

export interface ChatRequest {
  /** Empty: the configured default. */
  model: string;
  temperature: number;
  /** 0: no limit of ours. */
  maxTokens: number;
  messages: ChatMessage[];
  material: ChatMaterial;
  signal: AbortSignal;
  idempotencyKey: string;
}

export interface ChatMessage {
  role: 'system' | 'user';
  content: string;
}

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
  usage: { input_tokens: number; output_tokens: number };
}
