import CypherLexer from '#cypher-grammar/CypherCmdLexer';
import CypherParser from '#cypher-grammar/CypherCmdParser';
import type { Token, Tree } from './tree.js';

/** The used members of an ANTLR parse tree node. Rules have a `ruleIndex`, tokens a `symbol`. */
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

/** Reports text that is not valid Cypher. Contains the token where parsing stopped. */
export class CypherSyntaxError extends Error {
  override readonly name = 'CypherSyntaxError';
  constructor(readonly tokenIndex: number) {
    super(`syntax error at token ${tokenIndex}`);
  }
}

interface GrammarRule {
  name: string;
  isTrivial: boolean;
}

/** Matches precedence levels with one operand, and the classes of names. */
const trivialRules = /^(expression\d*|symbolic\w*NameString|unescaped\w+|escaped\w+)$/;
let grammarRules: GrammarRule[] | undefined;

function rulesOf(parser: AntlrParser): GrammarRule[] {
  grammarRules ??= parser.ruleNames.map((name) => ({ name, isTrivial: trivialRules.test(name) }));
  return grammarRules;
}

const sll = 0;
const ll = 1;
const endOfFile = -1;
/**
 * The maximum number of tokens for the exact (LL) mode. It accepts hardly any text that the fast (SLL) mode rejects,
 * and its time may grow quadratically.
 */
const maxTokensForLl = 1_000;

/** Splits text into tokens in linear time, at most the first `maxTokens`. Skips comments and spaces. */
export function lex(text: string, maxTokens = Infinity): LexedText {
  const lexer = new CypherLexer(charStream(text));
  const tokens: Token[] = [];
  const antlrTokens: AntlrToken[] = [];
  for (;;) {
    const token = lexer.nextToken() as AntlrToken;
    if (token.channel !== 0) continue;
    token.tokenIndex = antlrTokens.length;
    antlrTokens.push(token);
    if (token.type === endOfFile || tokens.length >= maxTokens) return { tokens, antlrTokens };
    tokens.push({
      type: CypherLexer.symbolicNames[token.type] ?? CypherLexer.literalNames[token.type] ?? String(token.type),
      text: text.slice(token.start, token.stop + 1),
      start: token.start,
      end: token.stop + 1,
    });
  }
}

/** The grammar rule for text without prefixes, or with prefixes (EXPLAIN, CYPHER 5) and console commands (:param). */
type Entry = 'statements' | 'statementsOrCommands';

/**
 * Parses the whole text with Neo4j's Cypher 5 grammar.
 * @throws {@link CypherSyntaxError}
 */
export function parse(lexed: LexedText, entry: Entry = 'statements'): Tree {
  try {
    return parseWith(lexed, entry, sll);
  } catch (error) {
    if (!(error instanceof CypherSyntaxError) || lexed.tokens.length > maxTokensForLl) throw error;
    return parseWith(lexed, entry, ll);
  }
}

function parseWith(lexed: LexedText, entry: Entry, predictionMode: number): Tree {
  const parser = new CypherParser(tokenStream(lexed.antlrTokens)) as AntlrParser;
  parser._interp.predictionMode = predictionMode;
  // Disable error recovery, because the first error ends the parsing.
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
  // Skip the roughly fifteen levels without content above each name and number.
  while (at.children?.length === 1 && rules[at.ruleIndex ?? -1]?.isTrivial) at = at.children[0] ?? at;
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
  if (children.length === 1 && rule.isTrivial) return first;
  return { rule: rule.name, children, token: null, first: first.first, last: last.last };
}

const noNodes: AntlrNode[] = [];

/**
 * Reads UTF-16 units, so that offsets match the text. The grammar accepts characters outside the basic plane only in
 * strings and quoted names.
 */
function charStream(text: string): object {
  let at = 0;
  return {
    get index() {
      return at;
    },
    get size() {
      return text.length;
    },
    consume() {
      at += 1;
    },
    LA(offset: number) {
      const position = offset < 0 ? at + offset : at + offset - 1;
      return position < 0 || position >= text.length ? endOfFile : text.charCodeAt(position);
    },
    mark: () => -1,
    release() {},
    seek(position: number) {
      at = Math.min(position, text.length);
    },
    getText: (start: number, stop: number) => text.slice(start, stop + 1),
    getSourceName: () => 'query',
  };
}

function tokenStream(tokens: AntlrToken[]): object {
  let at = 0;
  const token = (offset: number) => tokens[Math.min(offset < 0 ? at + offset : at + offset - 1, tokens.length - 1)];
  return {
    get index() {
      return at;
    },
    get size() {
      return tokens.length;
    },
    tokenSource: null,
    consume() {
      at = Math.min(at + 1, tokens.length - 1);
    },
    LT: token,
    LA: (offset: number) => token(offset)?.type ?? endOfFile,
    get: (index: number) => tokens[index],
    mark: () => -1,
    release() {},
    seek(position: number) {
      at = Math.min(position, tokens.length - 1);
    },
    getText: () => '',
  };
}
