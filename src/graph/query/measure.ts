import neo4j, { type ManagedTransaction } from 'neo4j-driver';
import type { GraphSizes } from '../guard/graph-sizes.js';
import { inReadTransaction, type Connection } from '../store/sessions.js';

/** A larger graph is not measured, because that would take longer than many queries. */
const mostNodes = 10_000;
const mostRelationships = 50_000;
const timeoutMs = 5_000;

interface Question {
  grantedProjectIds: readonly string[];
  organizationId: string;
  bookmark?: string | undefined;
  signal: AbortSignal;
}

/**
 * Measures what a query of the projects can read. Writes between this and the query are too small to matter for the limit.
 * @returns undefined for a large graph
 */
export function measure(graph: Connection, question: Question): Promise<GraphSizes | undefined> {
  const { grantedProjectIds: projectIds, organizationId, bookmark, signal } = question;
  const options = { timeoutMs, projectIds, organizationId, signal };
  return inReadTransaction(
    graph,
    (tx) => sizesIn(tx, projectIds),
    bookmark === undefined ? options : { ...options, bookmark },
  );
}

async function sizesIn(tx: ManagedTransaction, projectIds: readonly string[]): Promise<GraphSizes | undefined> {
  const inProjects = 'MATCH (n:_Scoped) WHERE n.project_id IN $projectIds';
  const nodes = await largest(tx, `${inProjects} WITH n AS e, COUNT { (n)--() } AS degree`, projectIds, mostNodes);
  if (!nodes || nodes.ends > 2 * mostRelationships) return undefined;
  const links = await largest(tx, `${inProjects} MATCH (n)-[e]->() WITH e, 0 AS degree`, projectIds, mostRelationships);
  if (!links) return undefined;
  return {
    nodes: Math.max(1, nodes.count),
    ends: nodes.ends,
    degree: nodes.degree,
    property: Math.max(1, nodes.property, links.property),
    element: Math.max(1, nodes.element, links.element),
  };
}

/** Returns the sizes of the elements `e` with a `degree`, or undefined if there are too many. */
async function largest(tx: ManagedTransaction, matched: string, projectIds: readonly string[], most: number) {
  const { records } = await tx.run(
    `${matched} LIMIT $most
     WITH degree, [key IN keys(e) | {isOwn: NOT key STARTS WITH '_', weight: ${weightOf('e[key]')}}] AS properties
     RETURN count(*) AS count, coalesce(sum(degree), 0) AS ends, coalesce(max(degree), 0) AS degree,
       coalesce(max(reduce(largest = 0, each IN properties | CASE WHEN each.isOwn AND each.weight > largest THEN each.weight ELSE largest END)), 0) AS property,
       coalesce(max(reduce(sum = 0, each IN properties | sum + each.weight)), 0) AS element`,
    { projectIds, most: neo4j.int(most + 1) },
  );
  const figure = (name: string) => Number(records[0]?.get(name) ?? 0);
  if (figure('count') > most) return undefined;
  return {
    count: figure('count'),
    ends: figure('ends'),
    degree: figure('degree'),
    property: figure('property'),
    element: figure('element'),
  };
}

/** Returns the number of characters of a value, or of characters and elements of a list. */
function weightOf(value: string): string {
  const characters = (each: string) => `coalesce(size(toStringOrNull(${each})), 1)`;
  return `CASE WHEN ${value} IS :: LIST<ANY> THEN reduce(sum = 1, each IN ${value} | sum + 1 + ${characters('each')}) ELSE 1 + ${characters(value)} END`;
}
