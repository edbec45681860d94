export interface ToolCall {
  id: string;
  name: string;
  /** JSON text as the model wrote it: not yet parsed, and possibly not valid JSON. */
  arguments: string;
  /** Why the arguments cannot be used, although they are JSON. */
  problem?: string;
  /** Other fields of the call, which the endpoint gets back unchanged. */
  echo?: Record<string, unknown>;
}

/** Other fields of an answer, which the model gets back unchanged with the conversation. */
export interface TurnEcho {
  model: string;
  fields: Record<string, unknown>;
}

/** What happened in the current agent's turns so far, in order. */
export type TurnMessage =
  | { role: 'assistant'; content: string; tool_calls: ToolCall[]; echo?: TurnEcho }
  | { role: 'tool'; tool_call_id: string; content: string }
  /** Why the answer before could not be used. */
  | { role: 'user'; content: string };

export interface ModelTurn {
  model: string;
  content: string;
  /** Empty when the agent has given its final answer. */
  tool_calls: ToolCall[];
  /** Absent in turns without tool calls, which end the conversation. */
  echo?: TurnEcho;
  usage: { input_tokens: number; output_tokens: number };
  /** For an answer that has to match a schema: its value, or why it does not match. Absent in turns with tool calls. */
  result?: { value: unknown } | { problems: string[] };
  /** What an agent with a knowledge base received from the context graph, with the lifecycle of the governed call. */
  knowledge?: { lifecycle_id: string; query: string; entities: string[] };
}

/** Model usage that no output includes: that of a check, or of an agent that did not finish. */
export interface Spending {
  /** Unique in the execution, and the same whenever the usage is reported again. */
  key: string;
  model: string;
  input_tokens: number;
  output_tokens: number;
}
