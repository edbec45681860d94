import neo4j from 'neo4j-driver';
import { newId } from '../src/base/ids.js';
import { retrieve, type RetrieveOptions } from '../src/graph/query/retrieve.js';
import { derivedId, scopeTerm } from '../src/graph/store/names.js';
import { prepareGraph } from '../src/graph/store/schema.js';
import { elementKey } from '../src/graph/vectors/elements.js';
import { createGeneration, generationOf, vectorLabel } from '../src/graph/vectors/generation.js';
import { createNearestByText } from '../src/graph/vectors/nearest.js';
import type { Graph } from '../src/stores/neo4j.js';
import { comparedCalls } from './calls.js';
import type { BenchEnvironment } from './environment.js';
import { figure, range, type Figure } from './measure.js';

const sizes = { small: 1000, large: 100_000 };
const sizeNames = ['small', 'large'] as const;
type Size = (typeof sizeNames)[number];
/** The number of relationships of each entity. */
const relationships = 3;
/** The number of alternating rounds of the two projects, after one warm-up round. */
const rounds = 10;
const questionsPerRound = 20;
const batch = 5000;
const goal = 'at most 1.5';
const generation = generationOf({ model: 'invented', dimensions: 384 });

/**
 * Compares questions over a graph of 1,000 entities with questions over 100,000 entities and 300,000 relationships.
 * Each graph is a project in the same database. Rounds alternate, so that both have the same load, and both projects
 * are deleted at the end. The vectors are synthetic, so this measures only the duration of a search.
 */
export async function benchRetrieval({ deps: { graph }, neo4jPid }: BenchEnvironment): Promise<Figure[]> {
  await prepareGraph(graph);
  await createGeneration(graph, generation);
  const projects = { small: newId(), large: newId() };
  try {
    for (const size of sizeNames) await load(graph, projects[size], sizes[size]);
    await untilIndexed(graph);
    const nearest = createNearestByText({
      graph,
      embed: (question) => Promise.resolve(vectorOf(question)),
      isConfigured: true,
      reasonOf: () => undefined,
    });
    return [
      ...(await compared(graph, projects, neo4jPid, 'text', {})),
      ...(await compared(graph, projects, neo4jPid, 'text and vectors', { nearest })),
    ];
  } finally {
    for (const project of Object.values(projects)) await clear(graph, project);
  }
}

async function compared(
  graph: Graph,
  projects: Record<Size, string>,
  neo4jPid: number | undefined,
  what: string,
  options: RetrieveOptions,
): Promise<Figure[]> {
  const side = (size: Size) => {
    let asked = 0;
    const work = () => ask(graph, projects[size], questionOf(asked++, sizes[size]), options);
    return { pid: neo4jPid, work };
  };
  const sides = { ours: side('large'), baseline: side('small') };
  const { ours, baseline } = await comparedCalls(sides, { rounds, calls: questionsPerRound, callers: 1 });
  const title = `${what}, ${sizes.large} entities and ${sizes.large * relationships} relationships; baseline ${sizes.small}`;
  return [
    figure(`${title}: median`, 'ms', ours.ms, baseline.ms, goal),
    figure(`${title}: processor time of Neo4j`, 'ms', ours.processor, baseline.processor, 'for information'),
  ];
}

const kinds = ['Customer', 'Product', 'Supplier', 'Contract', 'Site'];
const topics = [
  'turbine',
  'harbour',
  'insurance',
  'compiler',
  'orchard',
  'railway',
  'glacier',
  'museum',
  'battery',
  'satellite',
];

/** Every third question names one entity. The words of the others match a tenth or a fiftieth of the graph. */
function questionOf(at: number, entities: number): string {
  const topic = topics[at % topics.length] ?? '';
  if (at % 3 === 0) return `What do we know about ${topic} ${(at * 7919) % entities}?`;
  return at % 3 === 1 ? `which ${topic} is near` : `${kinds[at % kinds.length] ?? ''} with a ${topic}`;
}

/** Returns the same vector for the same question, and a different direction for every other question. */
function vectorOf(question: string): number[] {
  const seed = [...question].reduce((sum, character) => sum * 31 + (character.codePointAt(0) ?? 0), 7) % 1e6;
  return range(generation.dimensions).map((at) => Math.sin(seed + at * at));
}

function ask(graph: Graph, projectId: string, text: string, options: RetrieveOptions) {
  const question = {
    text,
    organizationId: 'bench',
    projectIds: [projectId],
    asOf: Date.now() / 1000,
    limit: 25,
    timeoutMs: 30_000,
  };
  return retrieve(graph, question, { lifecycle_id: 'bench', run: null, at: 0 }, options);
}

async function load(graph: Graph, projectId: string, entities: number): Promise<void> {
  const common = { projectId, scope: scopeTerm(projectId) };
  for (let from = 0; from < entities; from += batch) {
    const rows = range(Math.min(batch, entities - from)).map((at) => entityRow(projectId, from + at, entities));
    await graph.driver.executeQuery(
      `UNWIND $rows AS row CREATE (n:Entity:_Scoped {project_id: $projectId, id: row.id, type: row.type, name: row.name,
         _scope: $scope, _search: row.search, _words: row.search, _title: row.name, _title_key: row.name, _names: [], _times: [], _saved_by: 'bench', _recorded_at: 0.0}) SET n:$(row.type)`,
      { ...common, rows: rows.map(({ links: _, ...row }) => row) },
    );
    await graph.driver.executeQuery(
      `UNWIND $rows AS row CREATE (v:_Vector:${vectorLabel(generation.id)} {element: row.element, project: $projectId,
         generation: $generation, kind: 'entity', id: row.id, hash: row.id})
       WITH v CALL db.create.setNodeVectorProperty(v, 'embedding', [at IN range(1, $dimensions) | rand() - 0.5])`,
      {
        ...common,
        rows: rows.map(({ id, element }) => ({ id, element })),
        generation: generation.id,
        dimensions: neo4j.int(generation.dimensions),
      },
    );
  }
  for (let from = 0; from < entities; from += batch) {
    const rows = range(Math.min(batch, entities - from))
      .map((at) => entityRow(projectId, from + at, entities))
      .flatMap(({ id, links }) => links.map((to, at) => ({ from: id, to, id: derivedId('bench', id, to, at) })));
    await graph.driver.executeQuery(
      `UNWIND $rows AS row MATCH (a:Entity {project_id: $projectId, id: row.from}), (b:Entity {project_id: $projectId, id: row.to})
       CREATE (a)-[:RELATES {project_id: $projectId, id: row.id, _from: row.from, _to: row.to}]->(b)`,
      { ...common, rows },
    );
  }
  await graph.driver.executeQuery(
    'MERGE (s:ProjectState {key: $projectId}) SET s.embedding_generation = $generation, s.embedding_off = true',
    { ...common, generation: generation.id },
  );
}

/** Links some entities to one of a few hubs, as in real graphs. */
function entityRow(projectId: string, at: number, entities: number) {
  const type = kinds[at % kinds.length] ?? '';
  const topic = topics[at % topics.length] ?? '';
  const [id, name] = [`e${at}`, `${topic} ${at}`];
  const links = range(relationships).map(
    (link) => `e${link === 0 && at % 4 === 0 ? at % 20 : (at * 31 + link * 7907 + 1) % entities}`,
  );
  const search = `${type} ${name} number ${at} of the ${topic} business`;
  return { id, type, name, search, links, element: elementKey(projectId, 'entity', id) };
}

async function untilIndexed({ driver }: Graph): Promise<void> {
  await driver.executeQuery('CALL db.awaitIndexes(600)');
  await driver.executeQuery('CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()');
}

async function clear(graph: Graph, projectId: string): Promise<void> {
  const session = graph.driver.session();
  try {
    for (const nodes of [
      'Entity {project_id: $projectId}',
      '_Vector {project: $projectId}',
      'ProjectState {key: $projectId}',
    ])
      await session.run(`MATCH (n:${nodes}) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF $rows ROWS`, {
        projectId,
        rows: neo4j.int(batch),
      });
  } finally {
    await session.close();
  }
}
