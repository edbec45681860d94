import neo4j from 'neo4j-driver';
import { newId } from '../src/ids.js';
import { retrieve } from '../src/graph/query/retrieve.js';
import { derivedId, scopeTerm } from '../src/graph/store/names.js';
import { prepareGraph } from '../src/graph/store/schema.js';
import type { BenchEnvironment } from './environment.js';
import { figure, median, range, timed, type Figure } from './measure.js';
import type { Graph } from '../src/stores/neo4j.js';

const sizes = { small: 1000, large: 100_000 };
/** Of each entity. */
const relationships = 3;
const questions = 200;
const batch = 5000;
const warmUp = 20;

/**
 * Questions over a graph of 1,000 entities and over one of 100,000 with 300,000 relationships, each in a project of its
 * own in one database, taken in turns so that both meet the same load; both projects are taken away again.
 */
export async function benchRetrieval({ deps: { graph } }: BenchEnvironment): Promise<Figure[]> {
  await prepareGraph(graph);
  const projects = { small: newId(), large: newId() };
  const times = { small: [] as number[], large: [] as number[] };
  try {
    for (const which of ['small', 'large'] as const) await load(graph, projects[which], sizes[which]);
    for (const at of range(questions + warmUp)) {
      for (const which of ['small', 'large'] as const) {
        const ms = await timed(() => ask(graph, projects[which], questionOf(at, sizes[which])));
        if (at >= warmUp) times[which].push(ms);
      }
    }
  } finally {
    for (const project of Object.values(projects)) await clear(graph, project);
  }
  const what = `retrieval, median over ${sizes.large} entities and ${sizes.large * relationships} relationships; baseline over ${sizes.small}`;
  return [figure(what, 'ms', median(times.large), median(times.small), 'at most 3')];
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

/** Every third names one entity; the others share their words with a tenth or a fiftieth of the graph. */
function questionOf(at: number, entities: number): string {
  const topic = topics[at % topics.length] ?? '';
  if (at % 3 === 0) return `What do we know about ${topic} ${(at * 7919) % entities}?`;
  return at % 3 === 1 ? `which ${topic} is near` : `${kinds[at % kinds.length] ?? ''} with a ${topic}`;
}

function ask(graph: Graph, projectId: string, text: string) {
  const question = { text, projectIds: [projectId], asOf: Date.now() / 1000, limit: 25, timeoutMs: 30_000 };
  return retrieve(graph, question, { lifecycle_id: 'bench', run: null, at: 0 });
}

async function load(graph: Graph, projectId: string, entities: number): Promise<void> {
  const common = { projectId, scope: scopeTerm(projectId) };
  for (let from = 0; from < entities; from += batch) {
    const rows = range(Math.min(batch, entities - from)).map((at) => entityRow(from + at, entities));
    await graph.driver.executeQuery(
      `UNWIND $rows AS row CREATE (n:Entity:_Scoped {project_id: $projectId, id: row.id, type: row.type, name: row.name,
         _scope: $scope, _search: row.search, _saved_by: 'bench', _recorded_at: 0.0}) SET n:$(row.type)`,
      { ...common, rows: rows.map(({ links: _, ...row }) => row) },
    );
  }
  for (let from = 0; from < entities; from += batch) {
    const rows = range(Math.min(batch, entities - from))
      .map((at) => entityRow(from + at, entities))
      .flatMap(({ id, links }) => links.map((to, at) => ({ from: id, to, id: derivedId('bench', id, to, at) })));
    await graph.driver.executeQuery(
      `UNWIND $rows AS row MATCH (a:Entity {project_id: $projectId, id: row.from}), (b:Entity {project_id: $projectId, id: row.to})
       CREATE (a)-[:RELATES {project_id: $projectId, id: row.id, _from: row.from, _to: row.to}]->(b)`,
      { ...common, rows },
    );
  }
  await graph.driver.executeQuery('CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()');
}

/** Some links go to one of a few hubs, as in real graphs. */
function entityRow(at: number, entities: number) {
  const type = kinds[at % kinds.length] ?? '';
  const topic = topics[at % topics.length] ?? '';
  const name = `${topic} ${at}`;
  const links = range(relationships).map(
    (link) => `e${link === 0 && at % 4 === 0 ? at % 20 : (at * 31 + link * 7907 + 1) % entities}`,
  );
  return { id: `e${at}`, type, name, search: `${type} ${name} number ${at} of the ${topic} business`, links };
}

async function clear(graph: Graph, projectId: string): Promise<void> {
  const session = graph.driver.session();
  try {
    await session.run(
      `MATCH (n:Entity {project_id: $projectId}) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF $rows ROWS`,
      { projectId, rows: neo4j.int(batch) },
    );
  } finally {
    await session.close();
  }
}
