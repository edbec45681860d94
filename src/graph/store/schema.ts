import neo4j, { Neo4jError, type ManagedTransaction, type Session } from 'neo4j-driver';
import { defaultAnalyzer, earlierIndexOf, labels, textIndexOf, type Analyzer } from '../language/analyzers.js';
import { firstWordsCursor, hasEarlierWords, wordsVersion } from '../language/upgrade.js';
import type { Graph } from '../../stores/neo4j.js';
import { foldedName } from './folded-name.js';

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
const foldedIndex = 'entity_folded_name';
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
  `CREATE INDEX ${foldedIndex} IF NOT EXISTS FOR (n:Entity) ON (n.project_id, n.type, n._folded)`,
  'CREATE INDEX fact_subject IF NOT EXISTS FOR (n:Fact) ON (n.project_id, n.subject)',
  'CREATE INDEX unembedded_project IF NOT EXISTS FOR (n:_Unembedded) ON (n.project_id)',
  'CREATE CONSTRAINT unembedded_link_key IF NOT EXISTS FOR (l:_UnembeddedLink) REQUIRE l.key IS UNIQUE',
  'CREATE INDEX unembedded_link_project IF NOT EXISTS FOR (l:_UnembeddedLink) ON (l.project)',
  'CREATE INDEX vector_element IF NOT EXISTS FOR (v:_Vector) ON (v.element)',
  'CREATE INDEX vector_project IF NOT EXISTS FOR (v:_Vector) ON (v.project)',
  'CREATE CONSTRAINT generation_key IF NOT EXISTS FOR (g:_Generation) REQUIRE g.key IS UNIQUE',
  'CREATE INDEX analyzer_next IF NOT EXISTS FOR (s:ProjectState) ON (s.analyzer_next)',
  'CREATE INDEX words_cursor IF NOT EXISTS FOR (s:ProjectState) ON (s.words_cursor)',
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
    // The index shows that all entities of earlier releases have their folded name.
    if (!online.has(foldedIndex)) await foldNames(session);
    for (const statement of missing) await session.executeWrite((tx) => tx.run(statement)).catch(ignoreExisting);
    if (missing.length > 0) await session.executeWrite((tx) => tx.run('CALL db.awaitIndexes(60)'));
    await upgradeWords(session, online);
    // This process does not note changes, so the vectors must be checked when an endpoint is configured again.
    if (!graph.embeds)
      await session.executeWrite((tx) =>
        tx.run('MATCH (s:ProjectState) WHERE s.embedding_generation IS NOT NULL SET s.embedding_stale = true'),
      );
  } finally {
    await session.close();
  }
}

/** Marks the projects of earlier releases, whose words the worker stores again, and drops the earlier indexes after the last one. */
async function upgradeWords(session: Session, online: ReadonlySet<string>): Promise<void> {
  const { records } = await session.executeRead((tx) =>
    tx.run(
      `MATCH (s:ProjectState) WHERE ${hasEarlierWords} RETURN count(*) AS earlier, count(s.words_cursor) AS marked`,
      { wordsVersion },
    ),
  );
  const count = (name: string) => Number(records[0]?.get(name));
  if (count('earlier') > count('marked'))
    await session.executeWrite((tx) =>
      tx.run(`MATCH (s:ProjectState) WHERE ${hasEarlierWords} AND s.words_cursor IS NULL SET s.words_cursor = $first`, {
        wordsVersion,
        first: firstWordsCursor,
      }),
    );
  if (count('earlier') > 0) return;
  const analyzers = [defaultAnalyzer, ...Object.keys(labels)] as Analyzer[];
  for (const name of analyzers.map(earlierIndexOf).filter((each) => online.has(each)))
    await session.executeWrite((tx) => tx.run(`DROP INDEX ${name} IF EXISTS`));
}

const pageSize = 2000;

/** Adds the folded name to the entities of earlier releases. Safe to repeat. */
async function foldNames(session: Session): Promise<void> {
  const { records: projects } = await session.executeRead((tx) => tx.run('MATCH (s:ProjectState) RETURN s.key AS id'));
  for (const project of projects) {
    const projectId = project.get('id') as string;
    for (let last: string | undefined = ''; last !== undefined;) {
      const after: string = last;
      last = await session.executeWrite((tx) => foldPage(tx, projectId, after));
    }
  }
}

/** Returns the id of the last entity of the page, or undefined after the last page. */
async function foldPage(tx: ManagedTransaction, projectId: string, after: string): Promise<string | undefined> {
  const { records } = await tx.run(
    `MATCH (n:Entity) WHERE n.project_id = $projectId AND n.id > $after
     RETURN n.id AS id, n.name AS name ORDER BY n.project_id, n.id LIMIT $limit`,
    { projectId, after, limit: neo4j.int(pageSize) },
  );
  const rows = records.map((each) => ({ id: each.get('id') as string, folded: foldedName(String(each.get('name'))) }));
  await tx.run('UNWIND $rows AS row MATCH (n:Entity {project_id: $projectId, id: row.id}) SET n._folded = row.folded', {
    rows,
    projectId,
  });
  return rows.at(-1)?.id;
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
