import { lex, parse } from './cypher-parser.js';
import { readKeywords, writeKeywords } from './language.js';
import { refuse } from './refusal.js';
import { lexWithinBounds } from './text-bounds.js';

/*
 * Models answer with a query in a code fence, after a label or a sentence, or after their reasoning. Such a text means the
 * query, so the query runs, or is refused with its own reason.
 */

const reasoning = /^\s*<(think|thinking|reasoning)>[\s\S]*?<\/\1>/i;
const fence = /(?:```|~~~)[ \t]*([\w+-]*)[ \t]*\r?\n?([\s\S]*?)(?:```|~~~|$)/g;
/** A label, or a sentence that ends with a colon, before a query. */
const label = /^(?:cypher(?:[ \t]+5)?|[^\n:`]{0,200}:\*{0,2})(?=\s)/i;
const brackets: readonly (readonly [string, string])[] = [
  ['(', ')'],
  ['`', '`'],
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
];
/** Signs of a query that no question has: the parameters, and the arrows of patterns. */
const signs = /\$project_ids?\b|-\s*\[[^[\]\n]*\]\s*->?|<-\s*\[/i;
/** What may be the last node of a pattern, which has a label. */
const nodes = /\(([^()\n]*)\)\s*(?:<?-|where|return)/gi;

const mostFences = 5;

/**
 * Returns the query that a text contains, without what models write around it, or the whole text.
 * @throws AppError `invalid_input` for a text that contains a query in another place
 */
export function unwrapped(text: string): string {
  const said = text.replace(reasoning, '').trim();
  const fenced = [...said.matchAll(fence)].slice(0, mostFences);
  const inFence = fenced.map(([, , inner = '']) => withoutLabel(inner)).find(isQuery);
  if (inFence !== undefined) return inFence;
  const query = withoutLabel(said);
  if (isQuery(query)) return withoutExplanation(query);
  if (/\bmatch\b/i.test(said) && /\breturn\b/i.test(said) && hasSignsOfQuery(said))
    throw refuse(
      'The text contains a Cypher query among other words. Send the query alone, beginning with MATCH, OPTIONAL MATCH, WITH, UNWIND, RETURN or CALL',
    );
  return said === '' ? text : said;
}

function withoutLabel(text: string): string {
  const query = withoutBrackets(text.trim());
  if (beginsQuery(query)) return query;
  const rest = withoutBrackets(query.replace(label, '').trim());
  if (rest !== query && isQuery(rest)) return rest;
  // A sentence without a colon, on lines of its own.
  const at = query.search(/^[ \t]*(?:match|optional[ \t]+match|with|unwind|return|call)\b/im);
  const below = at < 0 ? '' : query.slice(at).trim();
  return below !== '' && hasSignsOfQuery(below) && isQuery(below) ? below : query;
}

function hasSignsOfQuery(text: string): boolean {
  return (
    signs.test(text) || [...text.matchAll(nodes)].some(([, inside = '']) => /^\s*(?:\w+\s*)?:\s*[\w`]/.test(inside))
  );
}

function withoutBrackets(text: string): string {
  for (const [open, close] of brackets) {
    const inner = text.slice(1, -1).trim();
    if (text.length > 2 && text.startsWith(open) && text.endsWith(close) && beginsQuery(inner)) return inner;
  }
  return text;
}

function beginsQuery(text: string): boolean {
  return /^(?:match|optional\s+match|with|unwind|return|call)\b/i.test(text);
}

/** Returns whether a text is meant as a query: it begins with a clause, and is valid or has signs of a query. */
function isQuery(text: string): boolean {
  const [first] = lex(text.slice(0, 100), 1).tokens;
  if (!first || !(readKeywords.has(first.type) || writeKeywords.has(first.type))) return false;
  return hasSignsOfQuery(text) || isValid(text);
}

function isValid(text: string): boolean {
  try {
    parse(lexWithinBounds(text));
    return true;
  } catch {
    return false;
  }
}

/** Parsing takes long, so a text of many parts is tried at few of them. */
const mostTries = 2;

/** Removes the paragraphs after a query, if the query is valid without them. */
function withoutExplanation(text: string): string {
  if (isValid(text)) return text;
  const paragraphs = text.split(/\n[ \t]*\r?\n/);
  const ends = paragraphs.flatMap((paragraph, at) => (/\breturn\b/i.test(paragraph) ? [at + 1] : []));
  const queries = ends.slice(0, mostTries).map((end) => paragraphs.slice(0, end).join('\n\n').trimEnd());
  return queries.find((query) => query !== text && isValid(query)) ?? text;
}
