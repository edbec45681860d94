import { bind, bindChildren, bindTrimmed, sourceOf, type Binding } from './bind.js';
import { bindPatterns, conditionText, inScope, newContainer } from './containers.js';
import { refuse } from './refusal.js';
import { reservedPrefix } from './text-bounds.js';
import { child, childrenOf, hasRule, nameOf, quoted, whereOf, type Tree } from './tree.js';
import { addPatternVariables, copyOf, emptyScope, projected, starOf, type Scope } from './variables.js';

interface BoundQuery {
  text: string;
  /** The scope of the returned columns, for a subquery that returns to an outer query. */
  columns: Scope;
}

/** Rewrites a query. Each branch of a UNION starts with the given scope. */
export function bindRegularQuery(tree: Tree, binding: Binding): BoundQuery {
  let columns = emptyScope();
  const text = tree.children
    .map((each) => {
      if (each.rule !== 'singleQuery') return bind(each, binding);
      const bound = bindSingleQuery(each, { ...binding, scope: copyOf(binding.scope) });
      columns = bound.columns;
      return ` ${bound.text.trim()} `;
    })
    .join('');
  return { text: text.trim(), columns };
}

function bindSingleQuery(tree: Tree, binding: Binding): BoundQuery {
  if (hasRule(tree, 'LCURLY')) throw refuse('A query in braces is not allowed here');
  const parts: string[] = [];
  let columns = emptyScope();
  for (const { children } of childrenOf(tree, 'clause')) {
    const clause = children[0];
    if (!clause) continue;
    if (binding.heavy.has(clause) && !isImportingWith(clause, tree, binding)) parts.push(pause(binding));
    if (clause.rule === 'returnClause') columns = columnsOf(clause, binding.scope);
    parts.push(bindClause(clause, binding).trim());
  }
  return { text: parts.join(' '), columns };
}

/** Renders a point in each row where the database checks whether it must stop: a search for nodes that cannot exist. */
function pause(binding: Binding): string {
  const [node, none] = [binding.names.fresh(), binding.names.fresh()];
  binding.scope.holdsOurs = true;
  return `CALL { MATCH (${node}:\`${reservedPrefix}_pause\`) WHERE ${inScope(node, 'node')} RETURN count(${node}) AS ${none} }`;
}

/** Returns whether the clause is the WITH of `CALL { WITH x …`, which nothing may precede. */
function isImportingWith(clause: Tree, query: Tree, { importsByWith }: Binding): boolean {
  return importsByWith && clause.rule === 'withClause' && childrenOf(query, 'clause')[0]?.children[0] === clause;
}

function columnsOf(clause: Tree, scope: Scope): Scope {
  const body = child(clause, 'returnBody');
  const items = body && child(body, 'returnItems');
  return items ? projected(items, scope) : emptyScope();
}

/** Renders the clause and updates the scope. */
function bindClause(clause: Tree, binding: Binding): string {
  const { scope } = binding;
  switch (clause.rule) {
    case 'matchClause':
      return bindMatch(clause, binding);
    case 'withClause':
      return bindWith(clause, binding);
    case 'unwindClause': {
      const text = bindChildren(clause, binding);
      const variable = clause.children.at(-1);
      if (variable) declare(scope, nameOf(variable));
      return text;
    }
    case 'subqueryClause':
      return bindCall(clause, binding);
    default:
      return bindChildren(clause, binding);
  }
}

function declare(scope: Scope, name: string): void {
  scope.variables.add(name);
  scope.elements.delete(name);
}

function bindMatch(clause: Tree, binding: Binding): string {
  const patterns = child(clause, 'patternList');
  if (!patterns) return '';
  const before = binding.names.count;
  const container = newContainer(patterns, binding.scope);
  const text = bindPatterns(patterns, container, binding);
  if (binding.names.count > before) binding.scope.holdsOurs = true;
  const condition = conditionText(container, whereOf(clause), binding);
  addPatternVariables(patterns, binding.scope);
  return `${hasRule(clause, 'OPTIONAL') ? 'OPTIONAL ' : ''}MATCH ${text} WHERE ${condition}`;
}

function bindWith(clause: Tree, binding: Binding): string {
  const body = child(clause, 'returnBody');
  const items = body && child(body, 'returnItems');
  const where = child(clause, 'whereClause');
  if (!body || !items) return '';
  const before = copyOf(binding.scope);
  const after = projected(items, before);
  // ORDER BY can use the variables before and after the projection.
  const text = bindTrimmed(body, { ...binding, scope: before });
  Object.assign(binding.scope, after);
  return `WITH ${text}${where ? ` ${bindTrimmed(where, binding)}` : ''}`;
}

function bindCall(clause: Tree, binding: Binding): string {
  const query = child(clause, 'regularQuery');
  if (!query) return '';
  const imports = child(clause, 'subqueryScope');
  const scope = imports ? importedScope(imports, binding.scope) : emptyScope();
  // Without an import list, WITH imports the variables that it names.
  if (!imports) scope.elements = new Set(binding.scope.elements);
  const bound = bindRegularQuery(query, { ...binding, scope, importsByWith: !imports });
  for (const name of bound.columns.variables) {
    declare(binding.scope, name);
    if (bound.columns.elements.has(name)) binding.scope.elements.add(name);
  }
  const head = clause.children.slice(
    0,
    clause.children.findIndex((each) => each.rule === 'LCURLY'),
  );
  return `${head
    .map((each) => bind(each, binding))
    .join('')
    .trim()} { ${bound.text} }`;
}

function importedScope(imports: Tree, outer: Scope): Scope {
  if (hasRule(imports, 'TIMES')) return { ...copyOf(outer), holdsOurs: false };
  const scope = emptyScope();
  for (const each of childrenOf(imports, 'variable')) {
    scope.variables.add(nameOf(each));
    if (outer.elements.has(nameOf(each))) scope.elements.add(nameOf(each));
  }
  return scope;
}

/**
 * Rewrites the items of RETURN or WITH. Keeps the user's column names: `*` excludes the guard's variables, and a
 * rewritten item is named by its original text.
 */
export function bindProjection(items: Tree, binding: Binding): string {
  return items.children
    .map((each) => {
      if (each.rule === 'TIMES') return ` ${starOf(binding.scope)}`;
      if (each.rule !== 'returnItem') return bind(each, binding);
      const text = binding.names.within(() => bind(each, binding));
      if (hasRule(each, 'AS')) return text;
      const source = sourceOf(each, binding);
      return text.trim() === source ? text : `${text} AS ${quoted(source)}`;
    })
    .join('');
}
