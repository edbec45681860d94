/** A token of the default channel. Offsets are UTF-16 units in the user's text. */
export interface Token {
  type: string;
  text: string;
  start: number;
  end: number;
}

/** The parse tree, independent of ANTLR. `rule` is a grammar rule, or the type of the token if `token` is set. */
export interface Tree {
  rule: string;
  children: readonly Tree[];
  token: Token | null;
  /** The indexes of the first and the last token. */
  first: number;
  last: number;
}

export function child(tree: Tree, rule: string): Tree | undefined {
  return tree.children.find((each) => each.rule === rule);
}

export function childrenOf(tree: Tree, rule: string): Tree[] {
  return tree.children.filter((each) => each.rule === rule);
}

export function hasRule(tree: Tree, rule: string): boolean {
  return tree.children.some((each) => each.rule === rule);
}

/** Visits parents before children. Returning `false` skips the children. */
export function walk(tree: Tree, visit: (tree: Tree) => boolean | void): void {
  if (visit(tree) === false) return;
  for (const each of tree.children) walk(each, visit);
}

export function find(tree: Tree, rule: string): Tree | undefined {
  if (tree.rule === rule) return tree;
  for (const each of tree.children) {
    const found = find(each, rule);
    if (found) return found;
  }
  return undefined;
}

/** Returns the keys and values in the properties of a pattern. */
export function entriesOf(properties: Tree | undefined): [key: Tree, value: Tree][] {
  const entries = properties ? (child(properties, 'map')?.children ?? []) : [];
  return entries.flatMap((key, index): [Tree, Tree][] => {
    const value = entries[index + 2];
    return key.rule === 'propertyKeyName' && value ? [[key, value]] : [];
  });
}

/** Returns the tokens of the tree without spaces. */
export function compact(tree: Tree): string {
  return tree.token ? tree.token.text : tree.children.map(compact).join('');
}

/** Returns the name without backticks. */
export function nameOf(tree: Tree): string {
  const text = compact(tree);
  return text.startsWith('`') ? text.slice(1, -1).replaceAll('``', '`') : text;
}

export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/**
 * Returns whether the tree is an expression at any precedence level. Levels with a single child are removed from the
 * tree.
 */
export function isOperator(tree: Tree): boolean {
  return /^expression\d*$/.test(tree.rule);
}

/** Returns the condition of a rule that has `WHERE expression` directly or in a `whereClause`. */
export function whereOf(tree: Tree): Tree | undefined {
  const clause = child(tree, 'whereClause') ?? tree;
  const at = clause.children.findIndex((each) => each.rule === 'WHERE');
  return at < 0 ? undefined : clause.children[at + 1];
}

/** Returns the original text without comments. */
export function excerptOf(tree: Tree): string {
  let text = '';
  let end = 0;
  walk(tree, ({ token }) => {
    if (!token || text.length > 60) return;
    text += text !== '' && token.start > end ? ` ${token.text}` : token.text;
    end = token.end;
  });
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
