import { inScope, type InScope } from '../guard/containers.js';
import { createQueryGuard, type GuardedQuery } from '../guard/guard.js';
import { reservedPrefix } from '../guard/text-bounds.js';

export const timeParameter = `${reservedPrefix}_as_of`;

/**
 * Creates a guard for queries about one point in time. It excludes entities, relationships and facts that are not valid
 * at `$__guard_as_of` in the same way as other projects, so no count or path includes them.
 */
export function createTimedGuard(): (text: string) => GuardedQuery {
  return createQueryGuard(inScopeAndTime);
}

/** Guards one query in advance, because the first one takes over 100 ms. */
export async function warmUpGuard(): Promise<void> {
  createTimedGuard()(typicalQuery);
}

const typicalQuery = `MATCH (c:Customer)-[r:OWNS*1..2]->(p:Product) WHERE c.project_id = $project_id AND p.price > $least
  WITH c, count(p) AS n, collect(p.name) AS names ORDER BY n DESC RETURN c.name AS name, [x IN names WHERE x <> 'a' | x] AS names, n + 1 AS n LIMIT 3`;

/** Also requires the label that all nodes of projects have, so that the database can use an index. */
const inScopeAndTime: InScope = (element, place) => {
  const label = place === 'node' ? `${element}:_Scoped AND ` : '';
  return `(${label}${inScope(element, place)} AND ${validAtTime(element)})`;
};

/** Returns a condition that cannot fail, whatever the element contains. */
function validAtTime(element: string): string {
  return `coalesce(${element}._until > $${timeParameter}, true) AND coalesce(${element}._since <= $${timeParameter}, true)`;
}

/** A period that a question names, in epoch seconds, excluding `until`. */
export interface Period {
  from: number;
  until: number;
}

/** The time of a question as query parameters: a point in time, and the periods that the question names. */
export interface Moment {
  [timeParameter]: number;
  periods: readonly Period[];
}

/**
 * Returns a condition that is true if an element is valid at the point in time, or was valid at some time in one of the
 * periods. It excludes superseded facts.
 */
export function validAtTimeOrInPeriods(element: string): string {
  return `(${validAtTime(element)} OR ${validInPeriods(element)})`;
}

export function validInPeriods(element: string): string {
  return `any(period IN $periods WHERE coalesce(${element}._until > period.from, true) AND coalesce(${element}._since < period.until, true))`;
}
