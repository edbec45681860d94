import type { Query } from './worlds.js';

/** Attacks by patterns: matches next to, behind or between the filtered nodes. */
export const patternAttacks: Query[] = [
  { name: 'filter or-ed away', query: 'MATCH (n) WHERE n.project_id = $project_id OR true RETURN n' },
  {
    name: 'filter or-ed away by a tautology',
    query: 'MATCH (n) WHERE n.project_id = $project_id OR n.name = n.name RETURN n.name',
  },
  { name: 'filter negated', query: 'MATCH (n) WHERE NOT (n.project_id = $project_id) RETURN n' },
  { name: 'filter negated twice over XOR', query: 'MATCH (n) WHERE (n.project_id = $project_id) XOR true RETURN n' },
  {
    name: 'filter in one branch of a CASE',
    query: 'MATCH (n) WHERE CASE WHEN false THEN n.project_id = $project_id ELSE true END RETURN n',
  },
  { name: 'filter compared with null', query: 'MATCH (n) WHERE (n.project_id = $project_id) IS NOT NULL RETURN n' },
  {
    name: 'filter in a list that is not empty',
    query: 'MATCH (n) WHERE size([n.project_id = $project_id]) > 0 RETURN n',
  },
  { name: 'second unfiltered MATCH', query: 'MATCH (n) WHERE n.project_id = $project_id MATCH (m) RETURN m' },
  {
    name: 'unfiltered MATCH first',
    query: 'MATCH (m) WITH collect(m.name) AS names MATCH (n) WHERE n.project_id = $project_id RETURN names, n.name',
  },
  { name: 'Cartesian product', query: 'MATCH (n), (m) WHERE n.project_id = $project_id RETURN m.name, m.secret' },
  {
    name: 'filter on a constant row',
    query: 'WITH {project_id: $project_id} AS n WHERE n.project_id = $project_id MATCH (m) RETURN m',
  },
  {
    name: 'filter on an OPTIONAL MATCH',
    query: 'MATCH (m) OPTIONAL MATCH (n) WHERE n.project_id = $project_id AND false RETURN m.name, n',
  },
  {
    name: 'OPTIONAL MATCH without a filter',
    query: 'MATCH (n:Company {project_id: $project_id}) OPTIONAL MATCH (m:Secret_{{W}}) RETURN n.name, m',
  },
  {
    name: 'filter in a later WITH',
    query: 'MATCH (n) WITH n, n.name AS name WHERE n.project_id = $project_id OR name IS NOT NULL RETURN name',
  },
  {
    name: 'UNION with an unfiltered branch',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n UNION MATCH (n) RETURN n',
  },
  {
    name: 'UNION ALL with an unfiltered branch',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n.name AS x UNION ALL MATCH (m) RETURN m.secret AS x',
  },
  {
    name: 'CALL subquery',
    query: 'MATCH (n) WHERE n.project_id = $project_id CALL { MATCH (m) RETURN collect(m.name) AS names } RETURN names',
  },
  {
    name: 'CALL subquery with imports',
    query: 'MATCH (n) WHERE n.project_id = $project_id CALL (n) { MATCH (n)--(m) RETURN m } RETURN m',
  },
  {
    name: 'CALL subquery with every import',
    query: 'MATCH (n) WHERE n.project_id = $project_id CALL (*) { MATCH (n)-->(m) RETURN m.secret AS s } RETURN s',
  },
  {
    name: 'CALL with an importing WITH',
    query: 'MATCH (n) WHERE n.project_id = $project_id CALL { WITH n MATCH (n)-[r]-(m) RETURN r, m } RETURN r, m',
  },
  {
    name: 'CALL with UNION inside',
    query:
      'MATCH (n {project_id: $project_id}) CALL { MATCH (m) RETURN m UNION MATCH (m:Secret_{{W}}) RETURN m } RETURN m',
  },
  {
    name: 'CALL in CALL',
    query: 'MATCH (n {project_id: $project_id}) CALL { CALL { MATCH (m) RETURN m } RETURN m AS k } RETURN DISTINCT k',
  },
  {
    name: 'OPTIONAL CALL',
    query: 'MATCH (n {project_id: $project_id}) OPTIONAL CALL (n) { MATCH (n)-->(m) RETURN m } RETURN m',
  },
  {
    name: 'EXISTS that asks outside',
    query: 'MATCH (n) WHERE n.project_id = $project_id AND EXISTS { MATCH (m:Secret_{{W}}) } RETURN n',
  },
  {
    name: 'EXISTS short form',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n.name, EXISTS { (n)-->(:Secret_{{W}}) } AS tied',
  },
  {
    name: 'EXISTS with a whole query',
    query:
      'MATCH (n) WHERE n.project_id = $project_id RETURN EXISTS { MATCH (m) WHERE m.secret IS NOT NULL RETURN m } AS there',
  },
  {
    name: 'COUNT of everything',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n.name, COUNT { (m) } AS all',
  },
  {
    name: 'COUNT of neighbours',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n.name, COUNT { (n)--() } AS degree',
  },
  {
    name: 'COUNT with a query',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN COUNT { MATCH (n)-[r]-(m) RETURN DISTINCT m } AS c',
  },
  {
    name: 'COLLECT',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN COLLECT { MATCH (m) RETURN m.name } AS names',
  },
  {
    name: 'COLLECT in WHERE',
    query:
      'MATCH (n) WHERE n.project_id = $project_id AND size(COLLECT { MATCH (m:Secret_{{W}}) RETURN m.secret }) > 0 RETURN n',
  },
  { name: 'degree by count(*)', query: 'MATCH (n)--() WHERE n.project_id = $project_id RETURN n.name, count(*) AS c' },
  {
    name: 'count of all nodes from the count store',
    query: 'MATCH (n) WHERE n.project_id = $project_id OR true RETURN count(*) AS c',
  },
  {
    name: 'count store in a subquery',
    query: 'MATCH (n {project_id: $project_id}) CALL { MATCH (m) RETURN count(m) AS c } RETURN DISTINCT c',
  },
  {
    name: 'relationship count store',
    query:
      'MATCH (n {project_id: $project_id}) CALL { MATCH ()-[r:SECRET_{{W}}]->() RETURN count(r) AS c } RETURN DISTINCT c',
  },
  {
    name: 'pattern comprehension',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN [(n)--(m) | m.name] AS names',
  },
  {
    name: 'pattern comprehension over everything',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN [(a)-[r]->(b) | [a.name, r.note, b.name]] AS names',
  },
  {
    name: 'pattern comprehension with a path',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN [p = (n)-[*1..3]->() | nodes(p)] AS paths',
  },
  {
    name: 'pattern comprehension in WHERE',
    query: 'MATCH (n) WHERE n.project_id = $project_id AND size([(n)-->(m:Secret_{{W}}) | 1]) > 0 RETURN n',
  },
  { name: 'pattern predicate', query: 'MATCH (n) WHERE n.project_id = $project_id AND (n)-->(:Secret_{{W}}) RETURN n' },
  {
    name: 'pattern predicate negated',
    query: 'MATCH (n) WHERE n.project_id = $project_id AND NOT (n)-[:KNOWS]-(:Secret_{{W}}) RETURN n.name',
  },
  {
    name: 'exists() over a pattern',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n.name, exists((n)--(:Secret_{{W}})) AS tied',
  },
  { name: 'walk out by an anonymous relationship', query: 'MATCH (n)-->(m) WHERE n.project_id = $project_id RETURN m' },
  {
    name: 'walk out by an anonymous node and back',
    query: 'MATCH (n)-->()-->(m) WHERE n.project_id = $project_id AND m.project_id = $project_id RETURN n.name, m.name',
  },
  {
    name: 'foreign relationship between own nodes',
    query: 'MATCH (n)-[r]->(m) WHERE n.project_id = $project_id AND m.project_id = $project_id RETURN r',
  },
  {
    name: 'variable length through a foreign node',
    query:
      'MATCH (n)-[*2..3]->(m) WHERE n.project_id = $project_id AND m.project_id = $project_id RETURN n.name, m.name',
  },
  { name: 'variable length as a path', query: 'MATCH p = (n)-[*]-(m) WHERE n.project_id = $project_id RETURN p' },
  { name: 'variable length relationships', query: 'MATCH (n)-[r*1..4]-() WHERE n.project_id = $project_id RETURN r' },
  { name: 'variable length from zero', query: 'MATCH (n {project_id: $project_id}), (m)-[*0..1]-(k) RETURN k' },
  { name: 'variable length with properties', query: 'MATCH (n)-[r*1..3 {project_id: $project_id}]->(m) RETURN m' },
  {
    name: 'two paths of variable length',
    query: 'MATCH p = (n)-[*1..2]->(m), (m)-[*1..2]->(k) WHERE n.project_id = $project_id RETURN k',
  },
  {
    name: 'shortest path through a foreign node',
    query:
      "MATCH p = shortestPath((n {name: 'Ada'})-[:KNOWS*..5]->(m {name: 'Dan'})) WHERE n.project_id = $project_id RETURN length(p) AS hops",
  },
  {
    name: 'all shortest paths',
    query:
      "MATCH p = allShortestPaths((n {name: 'Ada'})-[*..5]-(m {name: 'Dan'})) WHERE n.project_id = $project_id RETURN p",
  },
  {
    name: 'SHORTEST selector',
    query:
      "MATCH p = SHORTEST 2 (n {name: 'Ada'})-[:KNOWS]->+(m {name: 'Dan'}) WHERE n.project_id = $project_id RETURN p",
  },
  {
    name: 'ANY SHORTEST selector decides among foreign paths',
    query:
      "MATCH p = ANY SHORTEST (n {name: 'Ada'})-[:KNOWS]-+(m {name: 'Dan'}) WHERE n.project_id = $project_id RETURN length(p) AS hops",
  },
  {
    name: 'ALL SHORTEST selector',
    query: 'MATCH p = ALL SHORTEST (n)-->{1,4}(m:Secret_{{W}}) WHERE n.project_id = $project_id RETURN p',
  },
  {
    name: 'SHORTEST groups',
    query: "MATCH p = SHORTEST 2 GROUPS (n {name: 'Ada'})--+(m) WHERE n.project_id = $project_id RETURN length(p) AS l",
  },
  {
    name: 'ANY path selector',
    query:
      "MATCH p = ANY (n:Person {name: 'Ada'})-[:KNOWS]->{1,3}(m:Person) WHERE n.project_id = $project_id RETURN m.name, length(p) > 0 AS there",
  },
  {
    name: 'quantified relationship',
    query: 'MATCH (n)-[:KNOWS]->{2}(m) WHERE n.project_id = $project_id RETURN n.name, m.name',
  },
  {
    name: 'quantified path',
    query: 'MATCH (n) ((a)-[r]->(b)){1,3} (m) WHERE n.project_id = $project_id RETURN [x IN b | x.name] AS names, r',
  },
  {
    name: 'quantified path with a condition',
    query: 'MATCH (n) ((a)-[r]->(b) WHERE b.age >= 0 OR true)+ (m) WHERE n.project_id = $project_id RETURN b',
  },
  {
    name: 'quantified path with anonymous nodes',
    query: 'MATCH p = (n) (()-[]-())* (m) WHERE n.project_id = $project_id RETURN DISTINCT m.name',
  },
  { name: 'parenthesized path', query: 'MATCH ((n)-[r]->(m) WHERE n.project_id = $project_id) RETURN m' },
  {
    name: 'relationship alone',
    query: 'MATCH (n {project_id: $project_id}) MATCH ()-[r:KNOWS]->() RETURN startNode(r), endNode(r)',
  },
  {
    name: 'ends of a relationship',
    query: 'MATCH (n)-[r]-() WHERE n.project_id = $project_id RETURN endNode(r), startNode(r).secret',
  },
  {
    name: 'nodes and relationships of a path',
    query: 'MATCH p = (n)-[]-()-[]-() WHERE n.project_id = $project_id RETURN nodes(p), relationships(p)',
  },
  {
    name: 'properties of what a path passes',
    query:
      'MATCH p = (n)-[*..2]-() WHERE n.project_id = $project_id UNWIND nodes(p) AS x RETURN DISTINCT properties(x), keys(x), labels(x)',
  },
  { name: 'star', query: 'MATCH (n)-->() WHERE n.project_id = $project_id RETURN *' },
  { name: 'star with DISTINCT', query: 'MATCH (n)-->()-->() WHERE n.project_id = $project_id RETURN DISTINCT *' },
  { name: 'WITH star', query: 'MATCH (n) WHERE n.project_id = $project_id WITH * MATCH (m) RETURN *' },
  {
    name: 'label of the foreign project',
    query: 'MATCH (n:Secret_{{W}}) WHERE n.project_id = $project_id OR n.name IS NOT NULL RETURN n',
  },
  {
    name: 'label expression',
    query:
      'MATCH (n:!Nothing&(Person|Secret_{{W}})) WHERE n.project_id <> $project_id OR n.project_id = $project_id RETURN labels(n)',
  },
  {
    name: 'relationship type expression',
    query: 'MATCH (n)-[r:!KNOWS]-(m) WHERE n.project_id = $project_id RETURN type(r), m.name',
  },
];
