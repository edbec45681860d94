import { AppError } from '../../errors.js';
import { createQueryGuard, type GuardedQuery } from '../guard/guard.js';
import { scopeParameter } from '../guard/containers.js';
import { lex, parse } from '../guard/cypher-parser.js';
import { reservedPrefix } from '../guard/text-bounds.js';
import { child, nameOf, walk } from '../guard/tree.js';

export const timeParameter = `${reservedPrefix}_as_of`;

const bound = new RegExp(`((?:\`(?:[^\`]|\`\`)+\`|[\\p{L}\\p{N}_]+))\\.project_id IN \\$${scopeParameter}(?![\\p{L}\\p{N}_])`, 'gu');
/**
 * The guarded query over what held at one time: facts whose validity does not include `$__guard_as_of` are bound away
 * where other projects are, so that no count and no path sees them. Entities and relationships have no such times.
 * Nodes are also asked for the label that all of a project's nodes have, which lets an index find them.
 */
export function createTimedGuard(): (text: string) => GuardedQuery {
  const { guard } = createQueryGuard();
  const timed = new WeakMap<GuardedQuery, GuardedQuery>();
  return (text) => {
    if (text.includes(reservedPrefix)) throw new AppError('S4:validate-input', `A query may not hold ${reservedPrefix}`);
    const guarded = guard(text);
    const known = timed.get(guarded);
    if (known) return known;
    const asOf = { ...guarded, text: inTime(guarded.text) };
    timed.set(guarded, asOf);
    return asOf;
  };
}

function inTime(text: string): string {
  const nodes = nodeVariables(text.replace(/^CYPHER 5 /, ''));
  return text.replace(bound, (condition, element: string) => `(${nodes.has(unquoted(element)) ? `${element}:_Scoped AND ` : ''}${condition} AND ${held(element)})`);
}

/** Variables that are nodes wherever they stand; a name that is a relationship in another scope is none of them. */
function nodeVariables(text: string): ReadonlySet<string> {
  const nodes = new Set<string>();
  const others = new Set<string>();
  walk(parse(lex(text)), (tree) => {
    const into = tree.rule === 'nodePattern' ? nodes : tree.rule === 'relationshipPattern' ? others : undefined;
    const variable = into && child(tree, 'variable');
    if (variable) into.add(nameOf(variable));
  });
  return new Set([...nodes].filter((name) => !others.has(name)));
}

function unquoted(element: string): string {
  return element.startsWith('`') ? element.slice(1, -1).replaceAll('``', '`') : element;
}

/** Neither comparison can fail, whatever the element holds. */
export function held(element: string): string {
  return `coalesce(${element}._until > $${timeParameter}, true) AND coalesce(${element}._since <= $${timeParameter}, true)`;
}
