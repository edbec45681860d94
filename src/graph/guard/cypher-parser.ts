import { CypherLexer, CypherParser } from '@neo4j-cypher/language-support';
import type { Token, Tree } from './tree.js';

/** What is used of an ANTLR parse tree node: rules have `ruleIndex`, tokens `symbol`. */
interface AntlrNode {
  ruleIndex?: number;
  children?: AntlrNode[] | null;
  symbol?: AntlrToken;
}

interface AntlrToken {
  type: number;
  channel: number;
  start: number;
  stop: number;
  tokenIndex: number;
}

interface AntlrParser {
  ruleNames: string[];
  _interp: { predictionMode: number };
  _errHandler: { sync(): void };
  removeErrorListeners(): void;
  addErrorListener(listener: object): void;
  statements(): AntlrNode;
  statementsOrCommands(): AntlrNode;
}

export interface LexedText {
  tokens: Token[];
  antlrTokens: AntlrToken[];
}

/** Why the text is no Cypher: the token at which the grammar stopped. */
export class CypherSyntaxError extends Error {
  override readonly name = 'CypherSyntaxError';
  constructor(readonly tokenIndex: number) {
    super(`syntax error at token ${tokenIndex}`);
  }
}

interface GrammarRule {
  name: string;
  saysNothing: boolean;
}

/** Levels of precedence with one operand, and the classes of names. */
const sayingNothing = /^(expression\d*|symbolic\w*NameString|unescaped\w+|escaped\w+)$/;
let grammarRules: GrammarRule[] | undefined;

function rulesOf(parser: AntlrParser): GrammarRule[] {
  grammarRules ??= parser.ruleNames.map((name) => ({ name, saysNothing: sayingNothing.test(name) }));
  return grammarRules;
}

const sll = 0;
const ll = 1;
const endOfFile = -1;

/** Linear: comments and spaces are left out, each other character is in a token. */
export function lex(text: string): LexedText {
  // The library bundles its own antlr4, so its classes are met through the few members that are used here.
  const lexer = new CypherLexer(charStream(text) as never);
  const tokens: Token[] = [];
  const antlrTokens: AntlrToken[] = [];
  for (;;) {
    const token = lexer.nextToken() as unknown as AntlrToken;
    if (token.channel !== 0) continue;
    token.tokenIndex = antlrTokens.length;
    antlrTokens.push(token);
    if (token.type === endOfFile) return { tokens, antlrTokens };
    tokens.push({
      type: CypherLexer.symbolicNames[token.type] ?? CypherLexer.literalNames[token.type] ?? String(token.type),
      text: text.slice(token.start, token.stop + 1),
      start: token.start,
      end: token.stop + 1,
    });
  }
}

/** Without and with what may stand before a statement (EXPLAIN, CYPHER 5) or instead of one (:param). */
type Entry = 'statements' | 'statementsOrCommands';

/** Neo4j's Cypher 5 grammar, whole text. Throws {@link CypherSyntaxError}. */
export function parse(lexed: LexedText, entry: Entry = 'statements'): Tree {
  try {
    return parseWith(lexed, entry, sll);
  } catch (error) {
    if (!(error instanceof CypherSyntaxError)) throw error;
    return parseWith(lexed, entry, ll);
  }
}

function parseWith(lexed: LexedText, entry: Entry, predictionMode: number): Tree {
  const parser = new CypherParser(tokenStream(lexed.antlrTokens) as never) as unknown as AntlrParser;
  parser._interp.predictionMode = predictionMode;
  // It looks for places to go on after an error; the first error ends it here.
  parser._errHandler.sync = () => {};
  parser.removeErrorListeners();
  parser.addErrorListener({
    syntaxError: (_: unknown, token: AntlrToken) => {
      throw new CypherSyntaxError(token.tokenIndex);
    },
    reportAmbiguity() {},
    reportAttemptingFullContext() {},
    reportContextSensitivity() {},
  });
  const tree = convert(parser[entry](), rulesOf(parser), lexed.tokens);
  if (!tree) throw new CypherSyntaxError(0);
  return tree;
}

const noChildren: readonly Tree[] = [];

function convert(node: AntlrNode, rules: readonly GrammarRule[], tokens: Token[]): Tree | null {
  let at = node;
  // Down the levels that say nothing, of which there are some fifteen above each name and number.
  while (at.children?.length === 1 && rules[at.ruleIndex ?? -1]?.saysNothing) at = at.children[0] ?? at;
  if (at.symbol) {
    const index = at.symbol.tokenIndex;
    const token = tokens[index];
    return token ? { rule: token.type, children: noChildren, token, first: index, last: index } : null;
  }
  const children: Tree[] = [];
  for (const each of at.children ?? noNodes) {
    const converted = convert(each, rules, tokens);
    if (converted) children.push(converted);
  }
  const first = children[0];
  const last = children.at(-1);
  const rule = rules[at.ruleIndex ?? -1];
  if (!first || !last || !rule) return null;
  if (children.length === 1 && rule.saysNothing) return first;
  return { rule: rule.name, children, token: null, first: first.first, last: last.last };
}

const noNodes: AntlrNode[] = [];

/** By UTF-16 units, so that offsets are the text's; what is beyond the basic plane passes in strings and quoted names only. */
function charStream(text: string): object {
  let at = 0;
  return {
    get index() { return at; },
    get size() { return text.length; },
    consume() { at += 1; },
    LA(offset: number) {
      const position = offset < 0 ? at + offset : at + offset - 1;
      return position < 0 || position >= text.length ? endOfFile : text.charCodeAt(position);
    },
    mark: () => -1,
    release() {},
    seek(position: number) { at = Math.min(position, text.length); },
    getText: (start: number, stop: number) => text.slice(start, stop + 1),
    getSourceName: () => 'query',
  };
}

function tokenStream(tokens: AntlrToken[]): object {
  let at = 0;
  const token = (offset: number) => tokens[Math.min(offset < 0 ? at + offset : at + offset - 1, tokens.length - 1)];
  return {
    get index() { return at; },
    get size() { return tokens.length; },
    tokenSource: null,
    consume() { at = Math.min(at + 1, tokens.length - 1); },
    LT: token,
    LA: (offset: number) => token(offset)?.type ?? endOfFile,
    get: (index: number) => tokens[index],
    mark: () => -1,
    release() {},
    seek(position: number) { at = Math.min(position, tokens.length - 1); },
    getText: () => '',
  };
}
