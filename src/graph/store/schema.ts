import type { Graph } from '../../stores/neo4j.js';
import { isNeo4jError } from './neo4j-error.js';

/*
 * The graph's model. Users' queries meet the first two, which share the label _Scoped, so that one index finds what is in
 * a project whatever label a query names; the others have no project_id, so that no guarded query meets them.
 * - (:Entity:<its type> {project_id, id, type, name, …its properties by their own names, …internal ones})
 * - (:Fact {project_id, id, subject, predicate, object, confidence, valid_from, valid_to, recorded_at, superseded_at})
 *   with (:Entity)-[:HAS_FACT]->(:Fact) and (:Fact)-[:FACT_OBJECT]->(:Entity)
 * - (:Sealed {key, values}): what the ontology marks personal, out of reach of every query
 * - (:ProjectState {key, …}): the ontology in force, and the lock that puts a project's writes in order
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

/** Constraints and indexes; may run again, and beside another process that does the same. */
export async function prepareGraph(graph: Pick<Graph, 'driver'>): Promise<void> {
  const session = graph.driver.session();
  try {
    for (const statement of statements) await session.executeWrite((tx) => tx.run(statement)).catch(ignoreIfThere);
  } finally {
    await session.close();
  }
}

/** Two processes that start at once may both find it missing. */
function ignoreIfThere(error: unknown): void {
  if (!isNeo4jError(error) || !/(EquivalentSchemaRuleAlreadyExists|IndexAlreadyExists|ConstraintAlreadyExists)$/.test(error.code)) throw error;
}
