import { internalProperties } from '../store/names.js';
import { bindPatterns, conditionText, newContainer, type InScope } from './containers.js';
import { bindProjection, bindRegularQuery } from './clauses.js';
import { argumentsOf, functionOf } from './inspect.js';
import { reservedPrefix } from './text-bounds.js';
import { child, childrenOf, hasRule, nameOf, whereOf, type Token, type Tree } from './tree.js';
import { copyOf, type Names, type Scope } from './variables.js';

/** The context for rewriting a part of the query text. */
export interface Binding {
  text: string;
  tokens: readonly Token[];
  names: Names;
  scope: Scope;
  inScope: InScope;
  /** Clauses that need a pause before them (`work.ts`). */
  heavy: ReadonlySet<Tree>;
  /** Whether the query is a CALL without an import list. */
  importsByWith: boolean;
}

/**
 * Renders the tree and restricts every node and relationship of every pattern to the scope parameter. Copies
 * everything else unchanged, except comments, which become a space.
 */
export function bind(tree: Tree, binding: Binding): string {
  if (tree.token) return gapBefore(tree, binding) + tree.token.text;
  const write = writers[tree.rule];
  if (!write) return bindChildren(tree, binding);
  const gap = gapBefore(tree, binding);
  const text = write(tree, binding).trimStart();
  // A bracket may become a word: `NOT(n)-->()` becomes `NOT EXISTS { … }`.
  const touchesWord = gap === '' && /\w$/.test(binding.tokens[tree.first - 1]?.text ?? '') && /^\w/.test(text);
  return touchesWord ? ` ${text}` : gap + text;
}

export function bindChildren(tree: Tree, binding: Binding): string {
  return tree.children.map((each) => bind(each, binding)).join('');
}

export function bindTrimmed(tree: Tree, binding: Binding): string {
  return bind(tree, binding).trim();
}

/** Returns the original text, which becomes the name of a column. */
export function sourceOf(tree: Tree, { text, tokens }: Pick<Binding, 'text' | 'tokens'>): string {
  return text.slice(tokens[tree.first]?.start, tokens[tree.last]?.end);
}

function gapBefore(tree: Tree, { text, tokens }: Binding): string {
  const from = tokens[tree.first - 1]?.end ?? 0;
  const gap = text.slice(from, tokens[tree.first]?.start);
  return /^[ \t\r\n]*$/.test(gap) ? gap : ' ';
}

const writers: Readonly<Record<string, (tree: Tree, binding: Binding) => string>> = {
  regularQuery: (tree, binding) =>
    bindRegularQuery(tree, { ...binding, scope: inner(binding.scope), importsByWith: false }).text,
  returnItems: bindProjection,
  existsExpression: (tree, binding) => bindSubquery('EXISTS', tree, binding),
  countExpression: (tree, binding) => bindSubquery('COUNT', tree, binding),
  collectExpression: (tree, binding) => bindSubquery('COLLECT', tree, binding),
  functionInvocation: bindFunction,
  patternExpression: bindPatternExpression,
  patternComprehension: bindPatternComprehension,
  listComprehension: bindIteration,
  listItemsPredicate: bindIteration,
  reduceExpression: bindIteration,
  orderItem: (tree, binding) => binding.names.within(() => bindChildren(tree, binding)),
};

function bindFunction(tree: Tree, binding: Binding): string {
  const name = functionOf(tree);
  const pattern = name === 'exists' ? argumentsOf(tree)[0] : undefined;
  if (pattern) return bindPatternExpression(pattern, binding);
  const text = bindChildren(tree, binding);
  const isVisible = visibleNames[name];
  return isVisible ? `[${listedName} IN ${text.trim()} WHERE ${isVisible}]` : text;
}

/** The loop variable over names. A query cannot use it, because its prefix is reserved. */
const listedName = `${reservedPrefix}_name`;

/** The functions that also return names which only the service uses, and the condition for all other names. */
const visibleNames: Readonly<Record<string, string>> = {
  keys: `NOT ${listedName} IN [${[...internalProperties].map((name) => `'${name}'`).join(', ')}]`,
  labels: `${listedName} <> 'Entity' AND NOT ${listedName} STARTS WITH '_'`,
};

function inner(scope: Scope): Scope {
  return { ...copyOf(scope), holdsOurs: false };
}

function bindSubquery(keyword: string, tree: Tree, binding: Binding): string {
  const patterns = child(tree, 'patternList');
  const query = child(tree, 'regularQuery');
  if (query) return `${keyword} { ${bindTrimmed(query, binding)} }`;
  return patterns ? `${keyword} { ${boundPatterns(patterns, whereOf(tree), binding)} }` : '';
}

/** Rewrites a pattern as an expression, which tests for existence. Uses EXISTS because it accepts a WHERE. */
function bindPatternExpression(tree: Tree, binding: Binding): string {
  return `EXISTS { ${boundPatterns(tree, undefined, binding)} }`;
}

function boundPatterns(patterns: Tree, where: Tree | undefined, binding: Binding): string {
  const container = newContainer(patterns, binding.scope);
  const text = bindPatterns(patterns, container, binding);
  return `${text} WHERE ${conditionText(container, where, binding)}`;
}

function bindPatternComprehension(tree: Tree, binding: Binding): string {
  const pattern = child(tree, 'pathPatternNonEmpty');
  const result = tree.children.at(-2);
  if (!pattern || !result) return '';
  const container = newContainer(pattern, binding.scope);
  const path = hasRule(tree, 'EQ') ? child(tree, 'variable') : undefined;
  if (path) container.elements.delete(nameOf(path));
  const text = bindPatterns(pattern, container, binding, path);
  const within = { ...binding, scope: { ...binding.scope, elements: container.elements } };
  return `[${text} WHERE ${conditionText(container, whereOf(tree), binding)} | ${bindTrimmed(result, within)}]`;
}

/** Rewrites an iteration. Loop variables hide outer variables of the same name. */
function bindIteration(tree: Tree, binding: Binding): string {
  const scope = copyOf(binding.scope);
  for (const each of childrenOf(tree, 'variable')) scope.elements.delete(nameOf(each));
  return bindChildren(tree, { ...binding, scope });
}
