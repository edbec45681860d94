import { refuse } from './refusal.js';
import { lex, type LexedText } from './cypher-parser.js';

/** The limits of a query text. */
export const textLimits = {
  /** In UTF-16 units. */
  length: 20_000,
  tokens: 4_000,
  /** The lexer takes about 10 µs per non-ASCII character. */
  nonAscii: 3_000,
  /** The maximum number of consecutive labels. The parser time grows quadratically with them. */
  labels: 100,
  /** Each clause carries every variable, so the cost is clauses times columns. */
  clauses: 60,
  /** The maximum nesting depth of brackets and CASE. */
  depth: 40,
};

/** The prefix of names that the guard reserves: `$__guard_scope` and the names of anonymous elements. */
export const reservedPrefix = '__guard';

const opening = new Set(['LPAREN', 'LBRACKET', 'LCURLY', 'CASE']);
const closing = new Set(['RPAREN', 'RBRACKET', 'RCURLY', 'END']);
const clauses = new Set(['MATCH', 'WITH', 'UNWIND', 'CALL', 'RETURN']);
const strings = new Set(['STRING_LITERAL1', 'STRING_LITERAL2']);

/** Checks the text in linear time before parsing, whose cost may grow faster than the text. */
export function lexWithinBounds(text: string): LexedText {
  if (text.length > textLimits.length) throw refuse(`The query is longer than ${textLimits.length} characters`);
  if (!text.isWellFormed()) throw refuse('The query contains a lone surrogate, which is not a character');
  if (/[\0-\x08\x0E-\x1F\x7F]/.test(text)) throw refuse('The query contains a control character');
  // Neo4j replaces these escapes before parsing, so it would parse a different text than the guard.
  if (/\\u/i.test(text))
    throw refuse('The query contains a \\u escape: write the character itself or pass a parameter');
  if ((text.match(/[^\x00-\x7F]/g)?.length ?? 0) > textLimits.nonAscii) {
    throw refuse(
      `The query has more than ${textLimits.nonAscii} characters that are not ASCII: pass long texts as parameters`,
    );
  }
  const lexed = lex(text);
  if (lexed.tokens.length > textLimits.tokens) throw refuse(`The query has more than ${textLimits.tokens} tokens`);
  checkDepth(lexed);
  checkLabels(lexed);
  checkClauses(lexed);
  for (const token of lexed.tokens) {
    if (!strings.has(token.type) && token.text.includes(reservedPrefix)) {
      throw refuse(`Names that contain ${reservedPrefix} are reserved`);
    }
  }
  return lexed;
}

function checkDepth({ tokens }: LexedText): void {
  let depth = 0;
  for (const { type } of tokens) {
    if (opening.has(type)) depth += 1;
    else if (closing.has(type)) depth -= 1;
    if (depth > textLimits.depth) throw refuse(`The query has more than ${textLimits.depth} nested brackets`);
  }
}

/** Counts the clauses. The WITH of `STARTS WITH` and `ENDS WITH` is not a clause. */
function checkClauses({ tokens }: LexedText): void {
  const found = tokens.filter(
    ({ type }, at) => clauses.has(type) && !['STARTS', 'ENDS'].includes(tokens[at - 1]?.type ?? ''),
  );
  if (found.length > textLimits.clauses) throw refuse(`The query has more than ${textLimits.clauses} clauses`);
}

function checkLabels({ tokens }: LexedText): void {
  let labels = 0;
  tokens.forEach(({ type }, at) => {
    if (type !== 'COLON') return;
    labels = tokens[at - 2]?.type === 'COLON' ? labels + 1 : 1;
    if (labels > textLimits.labels) throw refuse(`The query has more than ${textLimits.labels} consecutive labels`);
  });
}
