import neo4j, { type ManagedTransaction } from 'neo4j-driver';
import { validAtTimeOrInPeriods } from './as-of.js';
import type { EntityKey, Neighbour } from './rank.js';
import { keyOf, type Scope } from './search.js';

/** The maximum number of relationships per entity that are considered for neighbours. */
const maxTraversed = 2000;
const maxNeighboursPerEntity = 20;

/**
 * Finds the neighbours of the entities. If an entity has many, selects those with the best `relevance` to the question,
 * then the most recently saved.
 */
export async function readNeighbours(
  tx: ManagedTransaction,
  from: readonly EntityKey[],
  relevance: ReadonlyMap<string, number>,
  scope: Scope,
): Promise<{ neighbours: Neighbour[]; isCut: boolean }> {
  if (from.length === 0) return { neighbours: [], isCut: false };
  const { records } = await tx.run(
    `UNWIND $from AS start MATCH (seed:Entity {project_id: start.project, id: start.id})
     CALL (seed) {
       MATCH (seed)-[r]-(other:Entity) WHERE other.project_id IN $projectIds AND r.project_id IN $projectIds
         AND ${validAtTimeOrInPeriods('r')} AND ${validAtTimeOrInPeriods('other')}
       WITH r, other LIMIT $walked
       RETURN r, other ORDER BY coalesce($relevance[elementId(other)], 0.0) DESC, r._recorded_at DESC, r.id LIMIT $each + 1
     }
     WITH elementId(seed) AS of, {elementId: elementId(r), from: elementId(startNode(r)), to: elementId(endNode(r))} AS link, ${keyOf('other')} AS entity
     WITH of, collect({of: of, link: link, entity: entity}) AS neighbours
     RETURN neighbours[..$each] AS neighbours, size(neighbours) > $each AS isCut`,
    {
      ...scope,
      from: from.map(({ project, id }) => ({ project, id })),
      relevance: Object.fromEntries(relevance),
      each: neo4j.int(maxNeighboursPerEntity),
      walked: neo4j.int(maxTraversed),
    },
  );
  return {
    neighbours: records.flatMap((record) => record.get('neighbours') as Neighbour[]),
    isCut: records.some((record) => record.get('isCut') === true),
  };
}
