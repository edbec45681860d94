import { refuse } from './refusal.js';
import { lex, type LexedText } from './cypher-parser.js';

export interface TextBounds {
  /** In UTF-16 units. */
  maxLength: number;
  maxTokens: number;
  /** The lexer takes about 10 µs per non-ASCII character. */
  maxNonAscii: number;
  /** The maximum number of consecutive labels. The parser time grows quadratically with them. */
  maxLabels: number;
  /** The maximum number of clauses. Each clause carries every variable, so the cost is clauses times columns. */
  maxClauses: number;
  /** The maximum nesting depth of brackets and CASE. */
  maxDepth: number;
}

/** The prefix of names that the guard reserves: `$__guard_scope` and the names of anonymous elements. */
export const reservedPrefix = '__guard';

const opening = new Set(['LPAREN', 'LBRACKET', 'LCURLY', 'CASE']);
const closing = new Set(['RPAREN', 'RBRACKET', 'RCURLY', 'END']);
const clauses = new Set(['MATCH', 'WITH', 'UNWIND', 'CALL', 'RETURN']);
const strings = new Set(['STRING_LITERAL1', 'STRING_LITERAL2']);

/** Checks the text in linear time before parsing, whose cost may grow faster than the text. */
export function lexWithinBounds(text: string, bounds: TextBounds): LexedText {
  if (text.length > bounds.maxLength) throw refuse(`The query is longer than ${bounds.maxLength} characters`);
  if (/\p{Surrogate}/u.test(text)) throw refuse('The query contains a lone surrogate, which is not a character');
  if (/[\0-\x08\x0E-\x1F\x7F]/.test(text)) throw refuse('The query contains a control character');
  // Neo4j replaces these escapes before parsing, so it would parse a different text than the guard.
  if (/\\u/i.test(text))
    throw refuse('The query contains a \\u escape: write the character itself or pass a parameter');
  if ((text.match(/[^\x00-\x7F]/g)?.length ?? 0) > bounds.maxNonAscii) {
    throw refuse(
      `The query has more than ${bounds.maxNonAscii} characters that are not ASCII: pass long texts as parameters`,
    );
  }
  const lexed = lex(text);
  if (lexed.tokens.length > bounds.maxTokens) throw refuse(`The query has more than ${bounds.maxTokens} tokens`);
  checkDepth(lexed, bounds.maxDepth);
  checkLabels(lexed, bounds.maxLabels);
  checkClauses(lexed, bounds.maxClauses);
  for (const token of lexed.tokens) {
    if (!strings.has(token.type) && token.text.includes(reservedPrefix)) {
      throw refuse(`Names that contain ${reservedPrefix} are reserved`);
    }
  }
  return lexed;
}

function checkDepth({ tokens }: LexedText, maxDepth: number): void {
  let depth = 0;
  for (const { type } of tokens) {
    if (opening.has(type)) depth += 1;
    else if (closing.has(type)) depth -= 1;
    if (depth > maxDepth) throw refuse(`The query has more than ${maxDepth} nested brackets`);
  }
}

/** Counts the clauses. The WITH of `STARTS WITH` and `ENDS WITH` is not a clause. */
function checkClauses({ tokens }: LexedText, maxClauses: number): void {
  const found = tokens.filter(
    ({ type }, at) => clauses.has(type) && !['STARTS', 'ENDS'].includes(tokens[at - 1]?.type ?? ''),
  );
  if (found.length > maxClauses) throw refuse(`The query has more than ${maxClauses} clauses`);
}

function checkLabels({ tokens }: LexedText, maxLabels: number): void {
  let labels = 0;
  tokens.forEach(({ type }, at) => {
    if (type !== 'COLON') return;
    labels = tokens[at - 2]?.type === 'COLON' ? labels + 1 : 1;
    if (labels > maxLabels) throw refuse(`The query has more than ${maxLabels} consecutive labels`);
  });
}
