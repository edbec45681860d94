import { graphText } from '../../graph/graph-text.js';
import type { ContextAnswer } from '../../graph/query/views.js';

const maxTextLength = 40_000;

/** Formats an answer of the graph as Markdown with one line per statement; empty if nothing was found. */
export function knowledgeText({
  entities,
  relationships,
  facts,
}: Pick<ContextAnswer, 'entities' | 'relationships' | 'facts'>): string {
  const names = new Map(entities.map(({ id, name }) => [id, name || id]));
  const nameOf = (id: string) => names.get(id) ?? id;
  const lines = [
    ...entities.map(
      ({ id, type, properties, provenance }) =>
        `- ${nameOf(id)} (${type})${listed(properties)}${origin(provenance.source)}`,
    ),
    ...relationships.map(
      ({ from, type, to, properties, provenance }) =>
        `- ${nameOf(from)} ${type} ${nameOf(to)}${listed(properties)}${origin(provenance.source)}`,
    ),
    ...facts.map(
      ({ subject, predicate, object, provenance }) =>
        `- ${nameOf(subject)} ${predicate}: ${valueText(object)}${origin(provenance.source)}`,
    ),
  ];
  const text = lines.join('\n');
  if (text.length <= maxTextLength) return text;
  const lastEnd = text.lastIndexOf('\n', maxTextLength);
  // One entity can be longer than the whole text.
  const shown = graphText(text, lastEnd > 0 ? lastEnd : maxTextLength);
  return `${shown}\n[cut: ${lines.length} lines in all]`;
}

function listed(properties: Record<string, unknown>): string {
  const parts = Object.entries(properties).map(([name, value]) => `${name}: ${valueText(value)}`);
  return parts.length === 0 ? '' : `: ${parts.join('; ')}`;
}

function origin(source: string | null): string {
  return source === null ? '' : ` (source: ${source})`;
}

function valueText(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replace(/\s+/g, ' ');
}
