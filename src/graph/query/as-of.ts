import { inScope, type InScope } from '../guard/containers.js';
import { createQueryGuard, type GuardedQuery } from '../guard/guard.js';
import { reservedPrefix } from '../guard/text-bounds.js';

export const timeParameter = `${reservedPrefix}_as_of`;

/**
 * Guards queries about one point in time. Excludes facts that are not valid at `$__guard_as_of` in the same way as
 * other projects, so no count or path includes them. Entities and relationships have no validity.
 */
export function createTimedGuard(): (text: string) => GuardedQuery {
  const { guard } = createQueryGuard({ inScope: inScopeAndTime });
  guard(warmUp);
  return guard;
}

/** Parsing the first query takes over 100 ms, which no request should wait for. */
const warmUp = `MATCH (c:Customer)-[r:OWNS*1..2]->(p:Product) WHERE c.project_id = $project_id AND p.price > $least
  WITH c, count(p) AS n, collect(p.name) AS names ORDER BY n DESC RETURN c.name AS name, [x IN names WHERE x <> 'a' | x] AS names, n + 1 AS n LIMIT 3`;

/** Also requires the label that all nodes of projects have, so that an index finds them. */
const inScopeAndTime: InScope = (element, place) => {
  const label = place === 'node' ? `${element}:_Scoped AND ` : '';
  return `(${label}${inScope(element, place)} AND ${heldAt(element)})`;
};

/** Neither comparison can fail, whatever the element contains. */
export function heldAt(element: string): string {
  return `coalesce(${element}._until > $${timeParameter}, true) AND coalesce(${element}._since <= $${timeParameter}, true)`;
}
