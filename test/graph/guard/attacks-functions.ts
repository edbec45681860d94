import type { Query } from './worlds.js';

const nested = (depth: number) => `${'('.repeat(depth)}1${')'.repeat(depth)}`;

/** Attacks by procedures, functions, errors and size. */
export const functionAttacks: Query[] = [
  { name: 'db.labels', query: 'CALL db.labels() YIELD label MATCH (n {project_id: $project_id}) RETURN label' },
  { name: 'db.propertyKeys', query: 'CALL db.propertyKeys()' },
  {
    name: 'db.schema',
    query: 'MATCH (n {project_id: $project_id}) CALL db.schema.nodeTypeProperties() YIELD nodeLabels RETURN nodeLabels',
  },
  {
    name: 'full-text index',
    query:
      "CALL db.index.fulltext.queryNodes('entities', '*') YIELD node WHERE node.project_id = $project_id OR true RETURN node",
  },
  {
    name: 'vector index',
    query: "CALL db.index.vector.queryNodes('v', 10, [1.0]) YIELD node WHERE node.project_id = $project_id RETURN node",
  },
  {
    name: 'quoted procedure',
    query: 'CALL `db`.`labels`() YIELD label MATCH (n {project_id: $project_id}) RETURN label',
  },
  { name: 'procedure without brackets', query: 'CALL db.labels' },
  {
    name: 'procedure in a subquery',
    query: 'MATCH (n {project_id: $project_id}) CALL { CALL dbms.listConfig() YIELD value RETURN value } RETURN value',
  },
  { name: 'query log', query: 'CALL dbms.listQueries()' },
  {
    name: 'apoc reads a file',
    query: "MATCH (n {project_id: $project_id}) CALL apoc.load.json('file:///etc/passwd') YIELD value RETURN value",
  },
  {
    name: 'apoc runs text',
    query:
      "MATCH (n {project_id: $project_id}) CALL apoc.cypher.run('MATCH (m) RETURN m', {}) YIELD value RETURN value",
  },
  {
    name: 'apoc function',
    query: "MATCH (n {project_id: $project_id}) RETURN apoc.cypher.runFirstColumnMany('MATCH (m) RETURN m', {}) AS m",
  },
  { name: 'function of the graph', query: 'MATCH (n {project_id: $project_id}) RETURN graph.names() AS g' },
  { name: 'file()', query: 'MATCH (n {project_id: $project_id}) RETURN file() AS f, linenumber() AS l' },
  { name: 'unknown function', query: 'MATCH (n {project_id: $project_id}) RETURN my.secrets(n) AS s' },
  { name: 'quoted function', query: 'MATCH (n {project_id: $project_id}) RETURN `apoc`.`meta`.`stats`() AS s' },
  {
    name: 'lookup by element id',
    query: 'MATCH (n {project_id: $project_id}) MATCH (m) WHERE elementId(m) STARTS WITH "4:" RETURN m',
  },
  {
    name: 'lookup by ids',
    query:
      'MATCH (n {project_id: $project_id}) UNWIND range(0, 200) AS i MATCH (m) WHERE id(m) = i AND m.project_id <> $project_id RETURN m.secret, labels(m)',
  },
  {
    name: 'lookup of relationships by ids',
    query:
      'MATCH (n {project_id: $project_id}) UNWIND range(0, 200) AS i MATCH ()-[r]->() WHERE id(r) = i AND r.project_id <> $project_id RETURN r',
  },
  { name: 'dynamic property', query: "MATCH (n {project_id: $project_id})--(m) RETURN m['secret'] AS s" },
  {
    name: 'map projection',
    query: 'MATCH (n {project_id: $project_id})--(m) RETURN m {.*, kin: [(m)--(k) | k {.*}]} AS m',
  },
  {
    name: 'property of an expression',
    query: 'MATCH (n {project_id: $project_id}) RETURN head([(n)--(m) | m]).secret AS s',
  },
  { name: 'computed label', query: 'MATCH (n:$("Secret_{{W}}")) WHERE n.project_id = $project_id OR true RETURN n' },
  { name: 'computed label from data', query: 'MATCH (k {project_id: $project_id}), (n:$(k.name)) RETURN n' },
  { name: 'computed type', query: 'MATCH (n)-[r:$("SECRET_{{W}}")]->(m) WHERE n.project_id = $project_id RETURN m' },
  {
    name: 'properties as a parameter',
    query: 'MATCH (n $props) WHERE n.project_id = $project_id RETURN n',
    params: { props: { name: 'Ada' } },
  },
  { name: 'project as a property twice', query: "MATCH (n {project_id: $project_id, project_id: 'x'}) RETURN n" },
  {
    name: 'index hint',
    query: 'MATCH (n:Person) USING INDEX n:Person(name) WHERE n.project_id = $project_id RETURN n',
  },
  {
    name: 'error reveals a division by foreign data',
    query: 'MATCH (m:Secret_{{W}}) WHERE m.project_id = $project_id OR 1 / m.age > 0 RETURN m',
  },
  {
    name: 'error reveals by a constant',
    query: 'MATCH (m:Secret_{{W}}) WHERE m.project_id = $project_id AND 1 / 0 = 1 RETURN m',
  },
  {
    name: 'error reveals the value of a text',
    query: 'MATCH (n {project_id: $project_id}), (m:Secret_{{W}}) WHERE date(m.secret) > date() RETURN n',
  },
  {
    name: 'error reveals by a regular expression',
    query: "MATCH (m:Secret_{{W}}) WHERE m.project_id = $project_id OR 'x' =~ ('[' + m.name) RETURN m",
  },
  {
    name: 'error in the properties of a node',
    query: 'MATCH (n {project_id: $project_id}), (m:Secret_{{W}} {age: 1 / 0}) RETURN n',
  },
  {
    name: 'error in the properties by another node',
    query: 'MATCH (m:Secret_{{W}}), (n {project_id: $project_id, age: 1 / m.age}) RETURN n',
  },
  {
    name: 'error in a WHERE of a node',
    query: 'MATCH (m:Secret_{{W}} WHERE 1 / m.age > 0) WHERE m.project_id = $project_id RETURN m',
  },
  {
    name: 'error in a WHERE of a relationship',
    query: 'MATCH (n)-[r:SECRET_{{W}} WHERE 1 / 0 > r.since]->(m) WHERE n.project_id = $project_id RETURN m',
  },
  {
    name: 'error in a quantified path',
    query:
      'MATCH (n) ((a)-[r]->(b:Secret_{{W}}) WHERE 1 / b.age > 0){1,2} (m) WHERE n.project_id = $project_id RETURN m',
  },
  {
    name: 'error in EXISTS',
    query:
      'MATCH (n) WHERE n.project_id = $project_id AND EXISTS { MATCH (m:Secret_{{W}}) WHERE 1 / m.age > 0 } RETURN n',
  },
  {
    name: 'error in EXISTS over a hidden name',
    query:
      'MATCH (n {project_id: $project_id}) WHERE any(n IN $l WHERE EXISTS { (m:Secret_{{W}}) WHERE n.x = 1 }) RETURN n',
    params: { l: [1, 'a'] },
  },
  {
    name: 'error in a pattern comprehension',
    query:
      'MATCH (n) WHERE n.project_id = $project_id RETURN [(n)--(m:Secret_{{W}}) WHERE 1 / m.age > 0 | m.name] AS x',
  },
  {
    name: 'error by a property of a value',
    query: 'WITH head($l) AS s MATCH (m:Secret_{{W}}) WHERE s.foo = 1 AND m.project_id = $project_id RETURN m',
    params: { l: ['text', 1] },
  },
  {
    name: 'error by a property of a property',
    query: 'MATCH (m:Secret_{{W}}) WHERE m.name.x = 1 AND m.project_id = $project_id RETURN m',
  },
  {
    name: 'error by a bare property',
    query: 'MATCH (m:Secret_{{W}}) WHERE m.name AND m.project_id = $project_id RETURN m',
  },
  {
    name: 'error in an OPTIONAL MATCH',
    query:
      'MATCH (n {project_id: $project_id}) OPTIONAL MATCH (n)--(m:Secret_{{W}}) WHERE 1 / m.age > 0 RETURN n.name, m',
  },
  {
    name: 'error in a shortest path',
    query:
      "MATCH p = shortestPath((n {name: 'Ada'})-[*..4]-(m:Secret_{{W}})) WHERE n.project_id = $project_id AND all(x IN nodes(p) WHERE 1 / x.age > 0) RETURN p",
  },
  {
    name: 'error by order',
    query: 'MATCH (n {project_id: $project_id}), (m:Secret_{{W}}) RETURN n.name ORDER BY 1 / m.age',
  },
  {
    name: 'error in a projection',
    query: 'MATCH (n {project_id: $project_id}), (m:Secret_{{W}}) RETURN 1 / m.age AS x',
  },
  {
    name: 'huge range',
    query: 'MATCH (n {project_id: $project_id}) UNWIND range(1, 1000000000) AS i RETURN count(i) AS c',
  },
  {
    name: 'huge range by arithmetic',
    query: 'MATCH (n {project_id: $project_id}) RETURN size(range(1, 1000 * 1000 * 1000)) AS c',
  },
  {
    name: 'huge range by a parameter',
    query: 'MATCH (n {project_id: $project_id}) RETURN reduce(s = 0, i IN range(1, $n) | s + i) AS c',
    params: { n: 1e9 },
  },
  { name: 'huge range by a power', query: 'MATCH (n {project_id: $project_id}) RETURN range(0, 10 ^ 9) AS c' },
  {
    name: 'doubling in reduce',
    query: "MATCH (n {project_id: $project_id}) RETURN reduce(s = 'aaaa', i IN range(1, 40) | s + s) AS c",
  },
  {
    name: 'doubling by clauses',
    query: `MATCH (n {project_id: $project_id}) WITH 'aaaa' AS s ${'WITH s + s AS s '.repeat(30)} RETURN s`,
  },
  {
    name: 'lists in lists',
    query:
      'MATCH (n {project_id: $project_id}) RETURN [a IN range(1,9999) | [b IN range(1,9999) | [c IN range(1,9999) | [d IN range(1,9999) | 1]]]] AS x',
  },
  { name: 'path longer than the ceiling', query: 'MATCH (n {project_id: $project_id})-[*1..500]-(m) RETURN m' },
  { name: 'quantifier above the ceiling', query: 'MATCH (n {project_id: $project_id}) (()--()){100,} (m) RETURN m' },
  { name: 'deep brackets', query: `MATCH (n {project_id: $project_id}) RETURN ${nested(500)}` },
  { name: 'deep lists', query: `MATCH (n {project_id: $project_id}) RETURN ${'['.repeat(300)}${']'.repeat(300)}` },
  { name: 'many patterns', query: `MATCH (n {project_id: $project_id})${'--()'.repeat(200)} RETURN n` },
  { name: 'long text', query: `MATCH (n {project_id: $project_id}) RETURN '${'x'.repeat(30_000)}'` },
  { name: 'many tokens', query: `MATCH (n {project_id: $project_id}) RETURN ${'1+'.repeat(9_000)}1` },
];
