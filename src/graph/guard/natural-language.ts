import { CypherSyntaxError, lex, parse } from './cypher-parser.js';
import { readKeywords, writeKeywords } from './language.js';
import { guardDefaults } from './guard.js';
import { lexWithinBounds } from './text-bounds.js';

/**
 * Text that does not begin with a read clause and parses as no Cypher at all. Text that begins with a write clause is
 * no natural language, though it breaks off later: `CREATE (n` is refused, «create a report» is searched for.
 */
export function looksLikeNaturalLanguage(text: string): boolean {
  const { tokens } = lex(text.slice(0, guardDefaults.maxLength));
  const [first, second] = tokens;
  if (!first) return false;
  if (first.type === 'OPTIONAL') return second?.type !== 'MATCH' && second?.type !== 'CALL';
  if (readKeywords.has(first.type)) return false;
  try {
    parse(lexWithinBounds(text, guardDefaults), 'statementsOrCommands');
    return false;
  } catch (error) {
    if (!(error instanceof CypherSyntaxError)) return !writeKeywords.has(first.type);
    const read = tokens.slice(1, error.tokenIndex);
    return !(writeKeywords.has(first.type) && read.some((token) => !/^[\p{L}\p{N}_]+$/u.test(token.text)));
  }
}
