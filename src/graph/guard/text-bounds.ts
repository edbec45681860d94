import { refuse } from './refusal.js';
import { lex, type LexedText } from './cypher-parser.js';

export interface TextBounds {
  /** UTF-16 units. */
  maxLength: number;
  maxTokens: number;
  /** Brackets of every kind and CASE, one inside the other. */
  maxDepth: number;
}

/** Names that begin so are the guard's: `$__guard_scope` and the names it gives to anonymous elements. */
export const reservedPrefix = '__guard';

const opening = new Set(['LPAREN', 'LBRACKET', 'LCURLY', 'CASE']);
const closing = new Set(['RPAREN', 'RBRACKET', 'RCURLY', 'END']);
const strings = new Set(['STRING_LITERAL1', 'STRING_LITERAL2']);

/** One linear pass before the grammar, whose cost may grow faster than the text. */
export function lexWithinBounds(text: string, bounds: TextBounds): LexedText {
  if (text.length > bounds.maxLength) throw refuse(`The query is longer than ${bounds.maxLength} characters`);
  if (/\p{Surrogate}/u.test(text)) throw refuse('The query holds a lone surrogate, which is no character');
  if (/[\0-\x08\x0E-\x1F\x7F]/.test(text)) throw refuse('The query holds a control character');
  // Neo4j replaces these before it reads the text, so that it would read another text than we did.
  if (/\\u/i.test(text)) throw refuse('The query holds a \\u escape: write the character itself or pass a parameter');
  const lexed = lex(text);
  if (lexed.tokens.length > bounds.maxTokens) throw refuse(`The query has more than ${bounds.maxTokens} words and signs`);
  checkDepth(lexed, bounds.maxDepth);
  for (const token of lexed.tokens) {
    if (!strings.has(token.type) && token.text.includes(reservedPrefix)) {
      throw refuse(`Names that hold ${reservedPrefix} are reserved`);
    }
  }
  return lexed;
}

function checkDepth({ tokens }: LexedText, maxDepth: number): void {
  let depth = 0;
  for (const { type } of tokens) {
    if (opening.has(type)) depth += 1;
    else if (closing.has(type)) depth -= 1;
    if (depth > maxDepth) throw refuse(`The query nests more than ${maxDepth} brackets`);
  }
}
