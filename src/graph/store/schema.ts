import { Neo4jError } from 'neo4j-driver';
import type { Graph } from '../../stores/neo4j.js';

/*
 * The graph model. Queries of users match only Entity and Fact. Both have the label _Scoped, so that one index finds
 * the nodes of a project for any label. The other nodes have no project_id, so no guarded query matches them.
 * - (:Entity:<its type> {project_id, id, type, name, …properties by their own names, …internal ones})
 * - (:Fact {project_id, id, subject, predicate, object, confidence, valid_from, valid_to, recorded_at,
 *   superseded_at}) with (:Entity)-[:HAS_FACT]->(:Fact) and (:Fact)-[:FACT_OBJECT]->(:Entity)
 * - (:Sealed {key, values}): personal values, which no query can reach
 * - (:ProjectState {key, …}): the active ontology, and the lock that serializes the writes of a project
 */
const statements = [
  'CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE (n.project_id, n.id) IS UNIQUE',
  'CREATE CONSTRAINT fact_id IF NOT EXISTS FOR (n:Fact) REQUIRE (n.project_id, n.id) IS UNIQUE',
  'CREATE CONSTRAINT sealed_key IF NOT EXISTS FOR (n:Sealed) REQUIRE n.key IS UNIQUE',
  'CREATE CONSTRAINT project_state_key IF NOT EXISTS FOR (n:ProjectState) REQUIRE n.key IS UNIQUE',
  'CREATE INDEX scoped_project IF NOT EXISTS FOR (n:_Scoped) ON (n.project_id)',
  'CREATE INDEX entity_type_name IF NOT EXISTS FOR (n:Entity) ON (n.project_id, n.type, n.name)',
  'CREATE INDEX fact_subject IF NOT EXISTS FOR (n:Fact) ON (n.project_id, n.subject)',
  `CREATE FULLTEXT INDEX context_text IF NOT EXISTS FOR (n:Entity|Fact) ON EACH [n.name, n._search, n._scope]
   OPTIONS {indexConfig: {\`fulltext.analyzer\`: 'english'}}`,
  'CALL db.awaitIndexes(60)',
];

export const textIndex = 'context_text';

/** Creates constraints and indexes. Safe to repeat, and to run in several processes at once. */
export async function prepareGraph(graph: Pick<Graph, 'driver'>): Promise<void> {
  const session = graph.driver.session();
  try {
    for (const statement of statements) await session.executeWrite((tx) => tx.run(statement)).catch(ignoreExisting);
  } finally {
    await session.close();
  }
}

/** Two processes that start at the same time may both try to create it. */
function ignoreExisting(error: unknown): void {
  if (
    !(error instanceof Neo4jError) ||
    !/(EquivalentSchemaRuleAlreadyExists|IndexAlreadyExists|ConstraintAlreadyExists)$/.test(error.code)
  )
    throw error;
}
