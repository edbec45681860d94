/**
 * What an agent's knowledge base gave for a question, once in an execution: a turn that is tried again and the turns
 * after it work with the same. `_id` is `<execution id>/<agent id>/<SHA-256 of the question>`.
 */
export interface ExecutionKnowledgeDocument {
  _id: string;
  execution_id: string;
  agent_id: string;
  query: string;
  /** The governed call that read it. */
  lifecycle_id: string;
  /** Ids of the entities that it held. */
  entities: string[];
  /** Redacted text, as it stands in the prompt; empty when nothing was found. */
  text: string;
  /** Epoch seconds. */
  at: number;
}
