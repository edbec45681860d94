import { inScope, type InScope } from '../guard/containers.js';
import { createQueryGuard, type GuardedQuery } from '../guard/guard.js';
import { reservedPrefix } from '../guard/text-bounds.js';

export const timeParameter = `${reservedPrefix}_as_of`;

/**
 * Guards queries over what held at one time: facts whose validity does not include `$__guard_as_of` are bound away where
 * other projects are, so that no count and no path sees them. Entities and relationships have no such times.
 */
export function createTimedGuard(): (text: string) => GuardedQuery {
  return createQueryGuard({ inScope: inScopeAndTime }).guard;
}

/** Nodes are also asked for the label that all of a project's nodes have, which lets an index find them. */
const inScopeAndTime: InScope = (element, place) => {
  const label = place === 'node' ? `${element}:_Scoped AND ` : '';
  return `(${label}${inScope(element, place)} AND ${held(element)})`;
};

/** Neither comparison can fail, whatever the element holds. */
export function held(element: string): string {
  return `coalesce(${element}._until > $${timeParameter}, true) AND coalesce(${element}._since <= $${timeParameter}, true)`;
}
