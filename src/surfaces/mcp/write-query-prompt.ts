import type { DomainTool } from '../../domain/operation.js';
import { readGoverned } from './context-resources.js';
import type { Exchange } from './exchange.js';
import type { Govern } from './mcp-tool.js';
import { rpcCodes, rpcError } from './rpc-errors.js';

export const writeQueryPrompt = {
  name: 'write_query',
  title: 'Write a query',
  description: 'Helps to write a query of the context graph that follows the rules and the ontology of the project.',
  arguments: [{ name: 'question', description: 'The question to answer, in plain words.', required: true }],
};

/** Reads the current rules and examples with a governed call of `docs`. */
export async function writeQuery(docs: DomainTool, govern: Govern, question: unknown, exchange: Exchange) {
  if (typeof question !== 'string' || question.trim() === '')
    throw rpcError(rpcCodes.invalidParams, 'question: required');
  const [rules, ontology] = await Promise.all(
    ['query', 'ontology'].map((topic) => readGoverned({ tool: docs, input: { topic } }, govern, exchange)),
  );
  const text = [
    'Write one read-only Cypher query of the context graph that answers the question, then run it with the tool query_context.',
    `Question: ${question.trim()}`,
    `Rules, limits and examples:\n${pretty({ rules: rules?.rules, limits: rules?.limits, examples: rules?.examples })}`,
    `Ontology in force (only these types and properties exist):\n${pretty(ontology?.ontology ?? 'none was committed: look at what is there first, with a plain question')}`,
  ].join('\n\n');
  const content = { type: 'text' as const, text };
  return { description: writeQueryPrompt.description, messages: [{ role: 'user' as const, content }] };
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 1);
}
