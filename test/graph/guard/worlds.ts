import { randomBytes } from 'node:crypto';
import neo4j, { isInt, type Driver, type Node, type Relationship } from 'neo4j-driver';
import { isAppError } from '../../../src/base/errors.js';
import { testRun } from '../../support/run.js';
import { createQueryGuard, parametersFor } from '../../../src/graph/guard/guard.js';

/** A caller's query. `{{W}}` is replaced by the world, so that a label or a type can exist in only one world. */
export interface Query {
  name: string;
  query: string;
  params?: Record<string, unknown>;
  /** Whether `$project_ids` includes the granted project. */
  granted?: boolean;
}

export type Outcome = { refused: string } | { failed: string } | { rows: unknown[]; canaries: string[] };

/**
 * Two worlds in one database, each with a querying project and a project granted to it, with identical contents. Only
 * the first one also contains a foreign project, which planted relationships link to the querying one.
 */
export interface Worlds {
  run(query: Query, world: 'beset' | 'alone'): Promise<Outcome>;
  /** Runs the query without the guard, as a control. */
  runBare(query: Query, world: 'beset' | 'alone'): Promise<Outcome>;
  close(): Promise<void>;
}

const guardedMs = 60_000;
/** Without the guard, some queries join all data of the database. Without an answer by then, a query counts as harmless. */
const bareMs = 5000;

export async function createWorlds(): Promise<Worlds> {
  const environment = testRun().env;
  const id = randomBytes(5).toString('hex');
  const canary = `CANARY${id}`;
  const driver = neo4j.driver(
    environment.NEO4J_URI ?? '',
    neo4j.auth.basic(environment.NEO4J_USER ?? '', environment.NEO4J_PASSWORD ?? ''),
    { disableLosslessIntegers: true },
  );
  const projects = {
    beset: { own: `p_${id}_own`, granted: `p_${id}_granted`, foreign: `p_${id}_${canary}`, suffix: `${id}x` },
    alone: { own: `p_${id}_own2`, granted: `p_${id}_granted2`, foreign: '', suffix: `${id}y` },
  };
  await createGraphs(driver, canary, projects);
  const guard = createQueryGuard();
  const runWith =
    (guarded: boolean): Worlds['run'] =>
    async ({ query, params = {}, granted = false }, world) => {
      const { own, granted: other, suffix } = projects[world];
      const text = query.replaceAll('{{W}}', suffix);
      const session = driver.session({ defaultAccessMode: neo4j.session.READ });
      try {
        const known = guarded ? guard(text) : { text, usesProjectIds: granted };
        const parameters = parametersFor(known, { projectId: own, grantedProjectIds: granted ? [other] : [] }, params);
        const result = await session.run(known.text, parameters, { timeout: guarded ? guardedMs : bareMs });
        const rows = result.records.map((record) => record.toObject());
        return {
          rows: rows.map((row) => plain(row, suffix)),
          canaries: foreignIn(rows, canary, granted ? [] : [other]),
        };
      } catch (error) {
        if (isAppError(error) && error.code === 'invalid_input') return { refused: error.message };
        if (error instanceof Error && 'code' in error && String(error.code).startsWith('Neo.'))
          return { failed: String(error.code) };
        throw error;
      } finally {
        await session.close();
      }
    };
  return {
    run: runWith(true),
    runBare: runWith(false),
    async close() {
      const all = Object.values(projects).flatMap((each) => [each.own, each.granted, each.foreign]);
      await driver.executeQuery('MATCH (n) WHERE n.project_id IN $all DETACH DELETE n', { all });
      await driver.executeQuery(`MATCH (n:Secret_${projects.beset.suffix}) DETACH DELETE n`);
      await driver.close();
    },
  };
}

/** Returns the values that a result must not contain at any position but contains. */
function foreignIn(rows: unknown[], canary: string, foreign: string[]): string[] {
  const text = JSON.stringify(rows);
  return [canary, 'canary', 'Canary', ...foreign].filter((each) => text.includes(each));
}

/** Removes the differences between the worlds: ids of projects and of elements, and the order of lists. */
function plain(value: unknown, suffix: string): unknown {
  if (value === null || typeof value !== 'object') {
    return typeof value === 'string'
      ? value
          .replaceAll(suffix, '{{W}}')
          .replace(/^p_\w+?_(own|granted)2?$/, 'project $1')
          .replace(/^\d+:[\w-]+:\d+$/, 'element')
      : value;
  }
  if (isInt(value)) return Number(value);
  if (Array.isArray(value)) return sorted(value.map((each) => plain(each, suffix)));
  if (isNode(value)) return { labels: plain(value.labels, suffix), ...(plain(value.properties, suffix) as object) };
  if (isRelationship(value)) return { type: plain(value.type, suffix), ...(plain(value.properties, suffix) as object) };
  if ('segments' in value && Array.isArray(value.segments))
    return value.segments.map((each: object) => plain(each, suffix));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key.replaceAll(suffix, '{{W}}'), plain(each, suffix)]),
  );
}

export function sorted(values: unknown[]): unknown[] {
  return values
    .map((each) => [JSON.stringify(each), each] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, each]) => each);
}

const isNode = (value: object): value is Node => 'labels' in value && 'properties' in value && 'elementId' in value;
const isRelationship = (value: object): value is Relationship => 'startNodeElementId' in value;

type Projects = Record<'beset' | 'alone', { own: string; granted: string; foreign: string; suffix: string }>;

async function createGraphs(driver: Driver, canary: string, projects: Projects): Promise<void> {
  for (const { own, granted, suffix } of Object.values(projects)) {
    await driver.executeQuery(projectGraph.replaceAll('{{W}}', suffix), { own, granted });
  }
  const { own, foreign, suffix } = projects.beset;
  await driver.executeQuery(foreignGraph.replaceAll('{{W}}', suffix).replaceAll('{{CANARY}}', canary), {
    own,
    foreign,
  });
}

const projectGraph = `
CREATE (ada:Person:Own_{{W}} {project_id: $own, name: 'Ada', age: 36, city: 'London', flag: true}),
  (bob:Person {project_id: $own, name: 'Bob', age: 41, city: 'Paris'}),
  (cleo:Person {project_id: $own, name: 'Cleo', age: 29, city: 'London'}),
  (dan:Person {project_id: $own, name: 'Dan', age: 36}),
  (acme:Company {project_id: $own, name: 'Acme', size: 100}),
  (beta:Company {project_id: $own, name: 'Beta', size: 20}),
  (d1:Document {project_id: $own, name: 'Plan', pages: 10, tags: ['a', 'b']}),
  (d2:Document {project_id: $own, name: 'Notes', pages: 3, tags: ['b']}),
  (ada)-[:KNOWS {project_id: $own, since: 2010}]->(bob),
  (bob)-[:KNOWS {project_id: $own, since: 2015}]->(cleo),
  (cleo)-[:KNOWS {project_id: $own, since: 2020}]->(dan),
  (ada)-[:WORKS_AT {project_id: $own, role: 'CTO'}]->(acme),
  (bob)-[:WORKS_AT {project_id: $own, role: 'Dev'}]->(acme),
  (cleo)-[:WORKS_AT {project_id: $own, role: 'Dev'}]->(beta),
  (ada)-[:WROTE {project_id: $own}]->(d1), (bob)-[:WROTE {project_id: $own}]->(d2),
  (d1)-[:CITES {project_id: $own}]->(d2),
  (zoe:Person {project_id: $granted, name: 'Zoe', age: 50, city: 'Rome'}),
  (gam:Company {project_id: $granted, name: 'Gamma', size: 7}),
  (zoe)-[:WORKS_AT {project_id: $granted, role: 'Boss'}]->(gam),
  (ada)-[:KNOWS {project_id: $granted, since: 2001}]->(zoe)`;

/**
 * Plants links to the foreign project: a foreign relationship between own nodes, and an own relationship to a foreign
 * node.
 */
const foreignGraph = `
MATCH (ada:Person {project_id: $own, name: 'Ada'}), (bob:Person {project_id: $own, name: 'Bob'}),
  (cleo:Person {project_id: $own, name: 'Cleo'}), (dan:Person {project_id: $own, name: 'Dan'}), (acme:Company {project_id: $own, name: 'Acme'})
CREATE (eve:Person:Secret_{{W}}:{{CANARY}} {project_id: $foreign, name: '{{CANARY}} Eve', age: 0, secret: '{{CANARY}}', \`{{CANARY}}\`: 1, list: ['{{CANARY}}'], own_id: $own}),
  (mallory:Person:Secret_{{W}} {project_id: $foreign, name: 'Ada', age: 99, city: 'London', secret: '{{CANARY}}'}),
  (corp:Company:Secret_{{W}} {project_id: $foreign, name: '{{CANARY}} Corp', size: 1000000, secret: '{{CANARY}}'}),
  (doc:Document:Secret_{{W}} {project_id: $foreign, name: '{{CANARY}} Doc', pages: 100000, tags: ['{{CANARY}}']}),
  (none:Person:Secret_{{W}} {name: '{{CANARY}} without a project', secret: '{{CANARY}}', age: 7}),
  (ada)-[:KNOWS {project_id: $own, since: 1999, note: '{{CANARY}}'}]->(eve),
  (eve)-[:KNOWS {project_id: $own, since: 1998}]->(dan),
  (ada)-[:KNOWS {project_id: $foreign, since: 1997, note: '{{CANARY}}'}]->(dan),
  (dan)-[:KNOWS {since: 1996, note: '{{CANARY}}'}]->(ada),
  (mallory)-[:WORKS_AT {project_id: $foreign, role: '{{CANARY}}'}]->(acme),
  (bob)-[:\`{{CANARY}}\` {project_id: $foreign}]->(corp),
  (cleo)-[:WROTE {project_id: $own}]->(doc), (doc)-[:CITES {project_id: $own}]->(doc),
  (eve)-[:WORKS_AT {project_id: $foreign, role: '{{CANARY}}'}]->(corp),
  (none)-[:KNOWS {project_id: $own, since: 1}]->(ada), (ada)-[:SECRET_{{W}} {project_id: $foreign}]->(eve)`;
