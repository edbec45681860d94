import { quoted } from '../guard/tree.js';
import type { OntologyDefinition } from '../ontology/definition.js';

interface QueryExample {
  asks: string;
  query: string;
}

/** Returns queries that run unchanged. They use the types of the project's ontology if there is one. */
export function examplesOf(ontology: OntologyDefinition | null): QueryExample[] {
  const types = Object.keys(ontology?.entity_types ?? {});
  const type = types[0] ?? 'Customer';
  const [relationship, ends] = Object.entries(ontology?.relationship_types ?? {})[0] ?? [undefined, undefined];
  const [from, to] = [ends?.from?.[0] ?? type, ends?.to?.[0] ?? types[1] ?? type];
  return [
    {
      asks: `every ${type}`,
      query: `MATCH (n:${named(type)}) WHERE n.project_id = $project_id RETURN n ORDER BY n.name`,
    },
    {
      asks: 'how many of each type',
      query:
        'MATCH (n:Entity) WHERE n.project_id = $project_id RETURN n.type AS type, count(n) AS entities ORDER BY entities DESC',
    },
    {
      asks: 'what is related to what',
      query: `MATCH (a:${named(from)})-[r${relationship === undefined ? '' : `:${named(relationship)}`}]->(b:${named(to)}) WHERE a.project_id = $project_id RETURN a, r, b`,
    },
    {
      asks: 'all facts about one entity',
      query: 'MATCH (e:Entity)-[:HAS_FACT]->(f:Fact) WHERE e.project_id = $project_id AND e.name = $name RETURN f',
    },
    {
      asks: 'over all projects granted to you (granted_projects: true)',
      query: `MATCH (n:${named(type)}) WHERE n.project_id IN $project_ids RETURN n.project_id AS project, count(n) AS entities`,
    },
    { asks: 'in words', query: `Which ${type} is new?` },
  ];
}

function named(name: string): string {
  return /^[A-Za-z]\w*$/.test(name) ? name : quoted(name);
}
