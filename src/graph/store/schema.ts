import { Neo4jError } from 'neo4j-driver';
import { defaultAnalyzer, labels, textIndexOf, type Analyzer } from '../language/analyzers.js';
import type { Graph } from '../../stores/neo4j.js';

/*
 * The graph model. Queries of users match only Entity and Fact. Both have the label _Scoped, so that one index finds
 * the nodes of a project for any label. The other nodes have no project_id, so no guarded query matches them.
 * - (:Entity:<its type> {project_id, id, type, name, …properties by their own names, …internal ones})
 * - (:Fact {project_id, id, subject, predicate, object, confidence, valid_from, valid_to, recorded_at,
 *   superseded_at}) with (:Entity)-[:HAS_FACT]->(:Fact) and (:Fact)-[:FACT_OBJECT]->(:Entity)
 * - Both also have the label of the analyzer of their project (_German, …), unless that is the English one
 * - (:Sealed {key, values}): personal values, which no query can reach
 * - (:SavedPart {key, result}): what one part of a remembered text wrote, so that it is written once
 * - (:EntityAlias {key, entity_id}): another name of an entity, (:EntityMerge {key, …}): a mention that was taken for a
 *   known entity, which can be undone
 * - (:ProjectState {key, …}): the active ontology, and the lock that serializes the writes of a project
 * - (:_Vector {element, generation, project, kind, id, hash, embedding}), with the label of its generation, whose vector
 *   index it is in, and (:_Generation {key, model, dimensions}); what is not embedded yet has the label _Unembedded, and a
 *   relationship the node (:_UnembeddedLink {key, project, id, from, type, to, stamp})
 */
const statements = [
  'CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE (n.project_id, n.id) IS UNIQUE',
  'CREATE CONSTRAINT fact_id IF NOT EXISTS FOR (n:Fact) REQUIRE (n.project_id, n.id) IS UNIQUE',
  'CREATE CONSTRAINT sealed_key IF NOT EXISTS FOR (n:Sealed) REQUIRE n.key IS UNIQUE',
  'CREATE CONSTRAINT project_state_key IF NOT EXISTS FOR (n:ProjectState) REQUIRE n.key IS UNIQUE',
  'CREATE CONSTRAINT saved_part_key IF NOT EXISTS FOR (n:SavedPart) REQUIRE n.key IS UNIQUE',
  'CREATE CONSTRAINT entity_alias_key IF NOT EXISTS FOR (n:EntityAlias) REQUIRE n.key IS UNIQUE',
  'CREATE CONSTRAINT entity_merge_key IF NOT EXISTS FOR (n:EntityMerge) REQUIRE n.key IS UNIQUE',
  'CREATE INDEX scoped_project IF NOT EXISTS FOR (n:_Scoped) ON (n.project_id)',
  'CREATE INDEX entity_type_name IF NOT EXISTS FOR (n:Entity) ON (n.project_id, n.type, n.name)',
  'CREATE INDEX entity_title IF NOT EXISTS FOR (n:Entity) ON (n.project_id, n._title_key)',
  'CREATE INDEX entity_folded_name IF NOT EXISTS FOR (n:Entity) ON (n.project_id, n.type, n._folded)',
  'CREATE INDEX fact_subject IF NOT EXISTS FOR (n:Fact) ON (n.project_id, n.subject)',
  'CREATE INDEX unembedded_project IF NOT EXISTS FOR (n:_Unembedded) ON (n.project_id)',
  'CREATE CONSTRAINT unembedded_link_key IF NOT EXISTS FOR (l:_UnembeddedLink) REQUIRE l.key IS UNIQUE',
  'CREATE INDEX unembedded_link_project IF NOT EXISTS FOR (l:_UnembeddedLink) ON (l.project)',
  'CREATE INDEX vector_element IF NOT EXISTS FOR (v:_Vector) ON (v.element)',
  'CREATE INDEX vector_project IF NOT EXISTS FOR (v:_Vector) ON (v.project)',
  'CREATE CONSTRAINT generation_key IF NOT EXISTS FOR (g:_Generation) REQUIRE g.key IS UNIQUE',
  'CREATE INDEX analyzer_next IF NOT EXISTS FOR (s:ProjectState) ON (s.analyzer_next)',
  fullText(defaultAnalyzer, 'Entity|Fact'),
  ...(Object.keys(labels) as (keyof typeof labels)[]).map((analyzer) => fullText(analyzer, labels[analyzer])),
];

function fullText(analyzer: Analyzer, label: string): string {
  return `CREATE FULLTEXT INDEX ${textIndexOf(analyzer)} IF NOT EXISTS FOR (n:${label}) ON EACH [n._title, n._words, n._scope]
   OPTIONS {indexConfig: {\`fulltext.analyzer\`: '${analyzer}'}}`;
}

/**
 * Creates the constraints and indexes that are missing. Safe to repeat, and to run in several processes concurrently. A
 * database that has them all is read once, because each statement takes a transaction of its own.
 */
export async function prepareGraph(graph: Pick<Graph, 'driver' | 'embeds'>): Promise<void> {
  const session = graph.driver.session();
  try {
    // A constraint has an index of the same name.
    const { records } = await session.executeRead((tx) =>
      tx.run(`SHOW INDEXES YIELD name, state WHERE state = 'ONLINE'`),
    );
    const online = new Set(records.map((each) => String(each.get('name'))));
    const missing = statements.filter((statement) => !online.has(nameOf(statement)));
    for (const statement of missing) await session.executeWrite((tx) => tx.run(statement)).catch(ignoreExisting);
    if (missing.length > 0) await session.executeWrite((tx) => tx.run('CALL db.awaitIndexes(60)'));
    // This process does not note changes, so the vectors must be checked when an endpoint is configured again.
    if (!graph.embeds)
      await session.executeWrite((tx) =>
        tx.run('MATCH (s:ProjectState) WHERE s.embedding_generation IS NOT NULL SET s.embedding_stale = true'),
      );
  } finally {
    await session.close();
  }
}

function nameOf(statement: string): string {
  return / (\w+) IF NOT EXISTS/.exec(statement)?.[1] ?? '';
}

/**
 * Ignores the error of an existing index, because two processes that start at the same time may both try to create it.
 */
function ignoreExisting(error: unknown): void {
  if (
    !(error instanceof Neo4jError) ||
    !/(EquivalentSchemaRuleAlreadyExists|IndexAlreadyExists|ConstraintAlreadyExists)$/.test(error.code)
  )
    throw error;
}
