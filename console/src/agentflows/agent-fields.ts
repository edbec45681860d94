export interface AgentField {
  path: string;
  label: string;
  /** Text by default. */
  kind?: 'number' | 'lines' | 'check' | 'agent' | 'skills' | 'schema';
  hint?: string;
  rows?: number;
}

export const agentFields: readonly AgentField[] = [
  { path: 'title', label: 'Title' },
  { path: '_id', label: 'Id', hint: 'Other agents and steps refer to this id.' },
  { path: 'role', label: 'Agent role' },
  { path: 'agent_type', label: 'Agent type', hint: 'For example, skilled_agent.' },
  {
    ...{ path: 'prompt.template', label: 'Prompt', rows: 6 },
    hint: 'A Liquid template, for example with {{ goal }} and {{ previous }}.',
  },
  {
    ...{ path: 'prompt.variables', label: 'Variables', kind: 'lines' },
    hint: 'The variables that the prompt uses, one per line.',
  },
  { path: 'next_agent', label: 'Next agent', kind: 'agent' },
  {
    ...{ path: 'output_schema', label: 'Output', kind: 'schema' },
    hint: 'The fields of the output. Without any, it is a text.',
  },
  { path: 'llm.model', label: 'Model', hint: 'Leave empty to use the default model.' },
  { path: 'llm.temperature', label: 'Temperature', kind: 'number', hint: 'Leave empty to use that of the model.' },
  {
    ...{ path: 'llm.max_tokens', label: 'Maximum tokens per response', kind: 'number' },
    hint: 'Leave empty for no limit. The thinking of a model counts.',
  },
  { path: 'role_description', label: 'Role description', rows: 3 },
  { path: 'max_turns', label: 'Maximum model turns', kind: 'number', hint: 'Default: 12.' },
  { path: 'max_total_tokens', label: 'Maximum total tokens', kind: 'number', hint: 'Default: 500,000.' },
  { path: 'preview_timeout_seconds', label: 'Preview timeout (seconds)', kind: 'number', hint: 'Default: seven days.' },
  { path: 'has_knowledge_base', label: 'Use the knowledge base of the project', kind: 'check' },
  { path: 'is_preview_mode_enabled', label: 'Require approval before the agent acts', kind: 'check' },
  { path: 'skills', label: 'Skills and actions', kind: 'skills' },
];
