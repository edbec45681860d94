import { CypherSyntaxError, lex, parse, type LexedText } from './cypher-parser.js';
import { readKeywords, writeKeywords } from './language.js';
import { lexWithinBounds, textLimits } from './text-bounds.js';

/**
 * Returns whether the text is natural language: it does not start with a read clause and is not valid Cypher. An
 * incomplete statement that starts with a write clause is not natural language: `CREATE (n` is refused, but «create a
 * report» starts a search.
 */
export function looksLikeNaturalLanguage(text: string): boolean {
  const [first, second] = lex(beginningOf(text), 2).tokens;
  if (!first) return false;
  if (first.type === 'OPTIONAL') return second?.type !== 'MATCH' && second?.type !== 'CALL';
  if (readKeywords.has(first.type)) return false;
  let lexed: LexedText | undefined;
  try {
    lexed = lexWithinBounds(text);
    parse(lexed, 'statementsOrCommands');
    return false;
  } catch (error) {
    if (!lexed || !(error instanceof CypherSyntaxError)) return !writeKeywords.has(first.type);
    const read = lexed.tokens.slice(1, error.tokenIndex);
    return !(writeKeywords.has(first.type) && read.some((token) => !/^[\p{L}\p{N}_]+$/u.test(token.text)));
  }
}

/**
 * Returns the first part of the text, up to the length limit of a query, because the lexer is slow with non-ASCII
 * characters.
 */
function beginningOf(text: string): string {
  let nonAscii = 0;
  let end = 0;
  for (; end < Math.min(text.length, textLimits.length) && nonAscii <= textLimits.nonAscii; end += 1)
    if (text.charCodeAt(end) > 0x7f) nonAscii += 1;
  return text.slice(0, end);
}
