/** What a rule may ask of a call's input, as `context.input.<name>`; read from the validated input alone. */
export interface Fact {
  type: 'String' | 'Long' | 'Boolean' | 'Set';
  read(input: Readonly<Record<string, unknown>>): string | number | boolean | string[];
}

const graphWrite = {
  entities: count('entities'),
  relationships: count('relationships'),
  facts: count('facts'),
  source: text('source'),
  entity_types: each('entities', 'type'),
};

/**
 * Every tool that rules can name, with its facts. A fact is always there: what the input leaves out is empty, 0 or
 * false, so that no rule fails for want of it.
 */
export const governedTools: Readonly<Record<string, Readonly<Record<string, Fact>>>> = {
  'query-context': { limit: whole('limit'), granted_projects: yes('granted_projects') },
  'save-context': graphWrite,
  'catalog-ingest': graphWrite,
  ontology: { commit: yes('commit') },
  docs: { topic: text('topic') },
  'run-agent': { agentflow_id: text('agentflow_id') },
  orchestrate: { operation: text('operation'), execution_id: text('execution_id') },
  'save-skill': { name: text('name') },
  'save-model': { model: text('model') },
  'bind-repository': { repository: text('repository') },
  'project-mode': { mode: text('mode') },
  'get-project-mode': {},
};

export function factsOf(tool: string, input: unknown): Record<string, string | number | boolean | string[]> {
  const facts = Object.hasOwn(governedTools, tool) ? governedTools[tool] : undefined;
  const fields = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
  return Object.fromEntries(Object.entries(facts ?? {}).map(([name, fact]) => [name, fact.read(fields)]));
}

function text(field: string): Fact {
  return { type: 'String', read: ({ [field]: value }) => (typeof value === 'string' ? value : '') };
}

function yes(field: string): Fact {
  return { type: 'Boolean', read: ({ [field]: value }) => value === true };
}

function whole(field: string): Fact {
  return { type: 'Long', read: ({ [field]: value }) => (typeof value === 'number' ? Math.trunc(value) : 0) };
}

function count(field: string): Fact {
  return { type: 'Long', read: ({ [field]: value }) => (Array.isArray(value) ? value.length : 0) };
}

/** The distinct texts of one field over a list. */
function each(list: string, field: string): Fact {
  return {
    type: 'Set',
    read: ({ [list]: items }) => {
      const values = (Array.isArray(items) ? (items as Record<string, unknown>[]) : []).map((item) => item[field]);
      return [...new Set(values.filter((value) => typeof value === 'string'))];
    },
  };
}
