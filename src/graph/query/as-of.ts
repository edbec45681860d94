import { inScope, type InScope } from '../guard/containers.js';
import { createQueryGuard, type GuardedQuery } from '../guard/guard.js';
import { reservedPrefix } from '../guard/text-bounds.js';

export const timeParameter = `${reservedPrefix}_as_of`;

/**
 * Guards queries about one point in time. Excludes entities, relationships and facts that are not valid at
 * `$__guard_as_of` in the same way as other projects, so no count or path includes them.
 */
export function createTimedGuard(): (text: string) => GuardedQuery {
  return createQueryGuard({ inScope: inScopeAndTime }).guard;
}

/** Guards one query, because the first one takes over 100 ms, for which no request should wait. */
export async function warmUpGuard(): Promise<void> {
  createTimedGuard()(typicalQuery);
}

const typicalQuery = `MATCH (c:Customer)-[r:OWNS*1..2]->(p:Product) WHERE c.project_id = $project_id AND p.price > $least
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

/** A time that a question names: epoch seconds, `until` not included. */
export interface Period {
  from: number;
  until: number;
}

/** The point in time of a question, and the periods that it names instead. As query parameters. */
export interface Moment {
  [timeParameter]: number;
  periods: readonly Period[];
}

/** Whether an element is valid at the time, or was at some time in one of the periods. Superseded facts never are. */
export function heldIn(element: string): string {
  return `(${heldAt(element)} OR ${wasHeld(element)})`;
}

export function wasHeld(element: string): string {
  return `any(period IN $periods WHERE coalesce(${element}._until > period.from, true) AND coalesce(${element}._since < period.until, true))`;
}
