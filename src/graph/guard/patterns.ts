import { bindTrimmed, type Binding } from './bind.js';
import { conditionText, newContainer, totalConditions, type Container } from './containers.js';
import { clampedPathLength, clampedQuantifier } from './hops.js';
import { refuse } from './refusal.js';
import { isTotalMap, isTotalValue } from './total.js';
import { child, compact, entriesOf, find, hasRule, nameOf, quoted, whereOf, type Tree } from './tree.js';

/**
 * The path of the outermost pattern: its name, and the container for its conditions. It gets a name only if one is
 * needed.
 */
interface Path {
  name: string | null;
  container: Container;
  allowed: boolean;
}

/** Rewrites a `pattern` (`p = …`), or the bare pattern of a comprehension or expression. */
export function bindPattern(tree: Tree, container: Container, binding: Binding, pathVariable?: Tree): string {
  const variable = pathVariable ?? (tree.rule === 'pattern' ? child(tree, 'variable') : undefined);
  const selector = child(tree, 'selector');
  const path: Path = { name: variable ? quoted(nameOf(variable)) : null, container, allowed: !selector };
  const element = tree.rule === 'pattern' ? child(tree, 'anonymousPattern') : tree;
  if (!element) return '';
  const text = selector
    ? bindSelected(selector, element, container, path, binding)
    : bindElement(element, container, path, binding);
  return path.name ? `${path.name} = ${text}` : text;
}

/**
 * Rewrites a pattern with a selector. A selector chooses paths before WHERE is evaluated, so the restrictions must be
 * inside its pattern.
 */
function bindSelected(selector: Tree, pattern: Tree, outer: Container, path: Path, binding: Binding): string {
  const container = newContainer(pattern, binding.scope);
  const text = bindElement(pattern, container, path, binding);
  for (const condition of container.conditions) outer.conditions.add(condition);
  return `${bindTrimmed(selector, binding)} (${text} WHERE ${conditionText(container, undefined, binding)})`;
}

function bindElement(tree: Tree, container: Container, path: Path, binding: Binding): string {
  switch (tree.rule) {
    case 'nodePattern':
      return bindNode(tree, container, binding);
    case 'relationshipPattern':
      return bindRelationship(tree, container, path, binding);
    case 'parenthesizedPath':
      return bindParenthesized(tree, container, path, binding);
    case 'shortestPathPattern':
      return `${compact(tree.children[0] ?? tree)}(${bindElement(tree.children[2] ?? tree, container, path, binding)})`;
    case 'patternElement':
      return bindSequence(tree, container, path, binding);
    default:
      return tree.children.map((each) => bindElement(each, container, path, binding)).join('');
  }
}

function bindSequence(tree: Tree, container: Container, path: Path, binding: Binding): string {
  return tree.children
    .map((each, index) => {
      const next = tree.children[index + 1];
      if (each.rule === 'quantifier') return '';
      if (each.rule === 'relationshipPattern' && next?.rule === 'quantifier')
        return bindQuantified(each, next, binding);
      return bindElement(each, container, path, binding);
    })
    .join('');
}

/** Expands `-[r]->+` to `(()-[r]->())+`, so that the inner nodes can be restricted. */
function bindQuantified(relationship: Tree, quantifier: Tree, binding: Binding): string {
  const container = newContainer(relationship, binding.scope);
  const path: Path = { name: null, container, allowed: false };
  const [from, to] = [binding.names.fresh(), binding.names.fresh()];
  const text = bindRelationship(relationship, container, path, binding);
  container.conditions.add(binding.inScope(from, 'node')).add(binding.inScope(to, 'node'));
  return `((${from})${text}(${to}) WHERE ${conditionText(container, undefined, binding)})${clampedQuantifier(quantifier)}`;
}

function bindParenthesized(tree: Tree, outer: Container, path: Path, binding: Binding): string {
  const pattern = child(tree, 'pattern');
  if (!pattern) return '';
  if (hasRule(pattern, 'selector')) throw refuse('A path selector is allowed only at the beginning of a pattern');
  if (hasRule(pattern, 'variable')) throw refuse('A parenthesized part of a path cannot have a path variable');
  const quantifier = child(tree, 'quantifier');
  const container = newContainer(pattern, binding.scope);
  const innerPath = quantifier ? { ...path, allowed: false } : path;
  const text = bindElement(child(pattern, 'anonymousPattern') ?? pattern, container, innerPath, binding);
  const condition = conditionText(container, whereOf(tree), binding);
  if (!quantifier) for (const each of container.conditions) outer.conditions.add(each);
  return `(${text} WHERE ${condition})${quantifier ? clampedQuantifier(quantifier) : ''}`;
}

function bindNode(tree: Tree, container: Container, binding: Binding): string {
  const variable = variableOf(tree, binding);
  container.conditions.add(binding.inScope(variable, 'node'));
  return `(${variable}${detailsOf(tree, variable, container, binding)})`;
}

function bindRelationship(tree: Tree, container: Container, path: Path, binding: Binding): string {
  const bracket = tree.children.findIndex((each) => each.rule === 'LBRACKET');
  const arrows = tree.children.filter((each) => ['leftArrow', 'arrowLine', 'rightArrow'].includes(each.rule));
  const half = arrows.findIndex((each) => each.rule === 'arrowLine') + 1;
  const left = arrows.slice(0, half).map(compact).join('');
  const right = arrows.slice(half).map(compact).join('');
  const length = child(tree, 'pathLength');
  if (bracket >= 0 && length) return `${left}[${bindVariableLength(tree, length, path, binding)}]${right}`;
  const variable = variableOf(tree, binding);
  container.conditions.add(binding.inScope(variable, 'relationship'));
  return `${left}[${variable}${detailsOf(tree, variable, container, binding)}]${right}`;
}

/** Rewrites a variable-length path. Its nodes are unnamed, so the restriction applies to the whole path. */
function bindVariableLength(tree: Tree, length: Tree, path: Path, binding: Binding): string {
  if (!path.allowed) throw refuse('Within a quantified or selected path, use a quantifier instead of [*]');
  if (whereOf(tree)) throw refuse('A relationship of variable length cannot have its own WHERE');
  const map = find(tree, 'map');
  if (map && !isTotalMap(map, path.container.elements))
    throw refuse('The properties of a relationship of variable length must be plain values');
  path.name ??= binding.names.fresh();
  const [node, relationship] = [binding.names.fresh(), binding.names.fresh()];
  path.container.conditions.add(`all(${node} IN nodes(${path.name}) WHERE ${binding.inScope(node, 'path')})`);
  path.container.conditions.add(
    `all(${relationship} IN relationships(${path.name}) WHERE ${binding.inScope(relationship, 'path')})`,
  );
  const variable = child(tree, 'variable');
  const labels = child(tree, 'labelExpression');
  const parts = [
    variable ? quoted(nameOf(variable)) : '',
    labels ? ` ${bindTrimmed(labels, binding)}` : '',
    clampedPathLength(length),
  ];
  return `${parts.join('')}${map ? ` ${bindTrimmed(map, binding)}` : ''}`;
}

function variableOf(tree: Tree, binding: Binding): string {
  const variable = child(tree, 'variable');
  return variable ? quoted(nameOf(variable)) : binding.names.fresh();
}

/** Returns labels, properties and WHERE. Conditions that can fail move after the restrictions. */
function detailsOf(tree: Tree, variable: string, container: Container, binding: Binding): string {
  const labels = child(tree, 'labelExpression');
  const kept: string[] = [];
  for (const [key, value] of entriesOf(child(tree, 'properties'))) {
    const text = bindTrimmed(value, binding);
    if (isTotalValue(value, container.elements)) kept.push(`${quoted(nameOf(key))}: ${text}`);
    else container.guarded.push(`(${variable}.${quoted(nameOf(key))} = (${text}))`);
  }
  const conditions = totalConditions(whereOf(tree), container, binding);
  const parts = [labels ? ` ${bindTrimmed(labels, binding)}` : ''];
  if (kept.length > 0) parts.push(` {${kept.join(', ')}}`);
  if (conditions.length > 0) parts.push(` WHERE ${conditions.join(' AND ')}`);
  return parts.join('');
}
