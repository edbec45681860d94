/** A token of the default channel; offsets are UTF-16 units of the caller's text. */
export interface Token {
  type: string;
  text: string;
  start: number;
  end: number;
}

/** The parse tree without ANTLR: `rule` is a grammar rule, or a token's type where `token` is set. */
export interface Tree {
  rule: string;
  children: readonly Tree[];
  token: Token | null;
  /** Positions of the first and the last token among all tokens. */
  first: number;
  last: number;
}

export function child(tree: Tree, rule: string): Tree | undefined {
  return tree.children.find((each) => each.rule === rule);
}

export function childrenOf(tree: Tree, rule: string): Tree[] {
  return tree.children.filter((each) => each.rule === rule);
}

export function has(tree: Tree, rule: string): boolean {
  return tree.children.some((each) => each.rule === rule);
}

/** Visits parents before children; `false` leaves out what is below. */
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

/** The tokens of the tree without any space between. */
export function compact(tree: Tree): string {
  return tree.token ? tree.token.text : tree.children.map(compact).join('');
}

/** The name that a symbolic name stands for: backticks taken off. */
export function nameOf(tree: Tree): string {
  const text = compact(tree);
  return text.startsWith('`') ? text.slice(1, -1).replaceAll('``', '`') : text;
}

export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/** An expression or any of the grammar's levels of one; single-child levels are gone from our tree. */
export function isOperator(tree: Tree): boolean {
  return /^expression\d*$/.test(tree.rule);
}

/** The condition of a rule that holds `WHERE expression` itself or in a `whereClause`. */
export function whereOf(tree: Tree): Tree | undefined {
  const clause = child(tree, 'whereClause') ?? tree;
  const at = clause.children.findIndex((each) => each.rule === 'WHERE');
  return at < 0 ? undefined : clause.children[at + 1];
}
