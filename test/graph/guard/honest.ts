import type { Query } from './worlds.js';

interface HonestQuery extends Query {
  /** The expected rows, which belong to the querying project. Their order matters if `ordered`. */
  rows: Record<string, unknown>[];
  ordered?: boolean;
}

const names = (...all: string[]) => all.map((name) => ({ name }));
const own = 'project own';

export const honestQueries: HonestQuery[] = [
  {
    name: 'all of a label',
    query: 'MATCH (n:Person) WHERE n.project_id = $project_id RETURN n.name AS name',
    rows: names('Ada', 'Bob', 'Cleo', 'Dan'),
  },
  {
    name: 'filter in the pattern',
    query: 'MATCH (n:Company {project_id: $project_id}) RETURN n.name AS name',
    rows: names('Acme', 'Beta'),
  },
  {
    name: 'filter the other way round',
    query: 'MATCH (n:Company) WHERE $project_id = n.project_id RETURN n.name AS name',
    rows: names('Acme', 'Beta'),
  },
  {
    name: 'filter in a WHERE of the node',
    query: 'MATCH (n:Company WHERE n.project_id = $project_id) RETURN n.name AS name',
    rows: names('Acme', 'Beta'),
  },
  {
    name: 'lower case',
    query: 'match (n:Company) where n.project_id = $project_id return n.name as name',
    rows: names('Acme', 'Beta'),
  },
  {
    name: 'trailing semicolon',
    query: 'MATCH (n:Company) WHERE n.project_id = $project_id RETURN n.name AS name;',
    rows: names('Acme', 'Beta'),
  },
  {
    name: 'comments',
    query: '// companies\nMATCH (n:Company) /* all */ WHERE n.project_id = $project_id\nRETURN n.name AS name // done',
    rows: names('Acme', 'Beta'),
  },
  {
    name: 'a node',
    query: "MATCH (n {name: 'Plan'}) WHERE n.project_id = $project_id RETURN n",
    rows: [{ n: { labels: ['Document'], name: 'Plan', pages: 10, project_id: own, tags: ['a', 'b'] } }],
  },
  {
    name: 'a relationship',
    query: "MATCH (n:Person {name: 'Cleo'})-[r:WORKS_AT]->() WHERE n.project_id = $project_id RETURN r",
    rows: [{ r: { type: 'WORKS_AT', project_id: own, role: 'Dev' } }],
  },
  {
    name: 'parameters',
    query: 'MATCH (n:Person) WHERE n.project_id = $project_id AND n.age > $age RETURN n.name AS name',
    params: { age: 40 },
    rows: names('Bob'),
  },
  {
    name: 'parameter list',
    query: 'MATCH (n:Person) WHERE n.project_id = $project_id AND n.name IN $names RETURN n.name AS name',
    params: { names: ['Bob', 'Eve'] },
    rows: names('Bob'),
  },
  {
    name: 'IN a written list',
    query: "MATCH (n) WHERE n.project_id = $project_id AND n.name IN ['Bob', 'Acme'] RETURN n.name AS name",
    rows: names('Bob', 'Acme'),
  },
  {
    name: 'text conditions',
    query:
      "MATCH (n) WHERE n.project_id = $project_id AND (n.name STARTS WITH 'A' OR n.name ENDS WITH 'n' OR n.name CONTAINS 'ot') RETURN n.name AS name",
    rows: names('Ada', 'Acme', 'Dan', 'Plan', 'Notes'),
  },
  {
    name: 'functions in WHERE',
    query: "MATCH (n:Person) WHERE n.project_id = $project_id AND toLower(n.name) = 'ada' RETURN n.name AS name",
    rows: names('Ada'),
  },
  {
    name: 'regular expression',
    query: "MATCH (n:Person) WHERE n.project_id = $project_id AND n.name =~ '(?i)[AB].*' RETURN n.name AS name",
    rows: names('Ada', 'Bob'),
  },
  {
    name: 'null',
    query: 'MATCH (n:Person) WHERE n.project_id = $project_id AND n.city IS NULL RETURN n.name AS name',
    rows: names('Dan'),
  },
  {
    name: 'boolean property',
    query: 'MATCH (n:Person) WHERE n.project_id = $project_id AND n.flag RETURN n.name AS name',
    rows: names('Ada'),
  },
  {
    name: 'column names as written',
    query:
      "MATCH (n:Person) WHERE n.project_id = $project_id AND n.name = 'Ada' RETURN n . name, size( [(n)--(m:Company) | m] ), COUNT { (n)-[:WROTE]->() }",
    rows: [{ 'n . name': 'Ada', 'size( [(n)--(m:Company) | m] )': 1, 'COUNT { (n)-[:WROTE]->() }': 1 }],
  },
  {
    name: 'one hop',
    query: "MATCH (n:Person {name: 'Ada'})-[:KNOWS]->(m) WHERE n.project_id = $project_id RETURN m.name AS name",
    rows: names('Bob'),
  },
  {
    name: 'two hops over an anonymous node',
    query:
      'MATCH (n:Person)-[:WORKS_AT]->(:Company)<-[:WORKS_AT]-(m:Person) WHERE n.project_id = $project_id RETURN n.name AS a, m.name AS b',
    rows: [
      { a: 'Ada', b: 'Bob' },
      { a: 'Bob', b: 'Ada' },
    ],
  },
  {
    name: 'types in choice',
    query:
      "MATCH (n {name: 'Ada'})-[r:WROTE|WORKS_AT]->(m) WHERE n.project_id = $project_id RETURN type(r) AS t, m.name AS name",
    rows: [
      { t: 'WROTE', name: 'Plan' },
      { t: 'WORKS_AT', name: 'Acme' },
    ],
  },
  {
    name: 'variable length',
    query: "MATCH (n {name: 'Ada'})-[:KNOWS*1..3]->(m) WHERE n.project_id = $project_id RETURN m.name AS name",
    rows: names('Bob', 'Cleo', 'Dan'),
  },
  {
    name: 'open length',
    query:
      "MATCH p = (n {name: 'Ada'})-[:KNOWS*]->(m) WHERE n.project_id = $project_id RETURN m.name AS name, length(p) AS hops",
    rows: [
      { name: 'Bob', hops: 1 },
      { name: 'Cleo', hops: 2 },
      { name: 'Dan', hops: 3 },
    ],
  },
  {
    name: 'shortest path',
    query:
      "MATCH p = shortestPath((a:Person {name: 'Ada'})-[*..5]-(b:Person {name: 'Cleo'})) WHERE a.project_id = $project_id RETURN [x IN nodes(p) | x.name] AS names",
    rows: [{ names: ['Ada', 'Bob', 'Cleo'] }],
  },
  {
    name: 'SHORTEST',
    query:
      "MATCH p = SHORTEST 1 (a {name: 'Ada'})-[:KNOWS]->+(b {name: 'Dan'}) WHERE a.project_id = $project_id RETURN length(p) AS hops",
    rows: [{ hops: 3 }],
  },
  {
    name: 'quantified path',
    query:
      "MATCH (a {name: 'Ada'}) ((x)-[:KNOWS]->(y) WHERE x.age > 30){1,3} (b) WHERE a.project_id = $project_id RETURN [k IN y | k.name] AS names",
    rows: [{ names: ['Bob'] }, { names: ['Bob', 'Cleo'] }],
  },
  {
    name: 'aggregation',
    query:
      'MATCH (p:Person)-[:WORKS_AT]->(c:Company) WHERE p.project_id = $project_id RETURN c.name AS name, count(*) AS staff, avg(p.age) AS age',
    rows: [
      { name: 'Acme', staff: 2, age: 38.5 },
      { name: 'Beta', staff: 1, age: 29 },
    ],
  },
  {
    name: 'order, skip, limit',
    query:
      'MATCH (n:Person) WHERE n.project_id = $project_id RETURN n.name AS name ORDER BY n.age DESC, name SKIP 1 LIMIT 2',
    rows: names('Ada', 'Dan'),
    ordered: true,
  },
  {
    name: 'distinct',
    query: 'MATCH (n:Person) WHERE n.project_id = $project_id RETURN DISTINCT n.city AS city',
    rows: [{ city: 'London' }, { city: 'Paris' }, { city: null }],
  },
  {
    name: 'order by what is returned',
    query:
      'MATCH (n:Person) WHERE n.project_id = $project_id RETURN n.name AS name, COUNT { (n)-->() } AS c ORDER BY c DESC, name LIMIT 2',
    rows: [
      { name: 'Ada', c: 3 },
      { name: 'Bob', c: 3 },
    ],
    ordered: true,
  },
  {
    name: 'order by an expression that is returned',
    query:
      'MATCH (n:Company) WHERE n.project_id = $project_id RETURN DISTINCT count { (n)--() } ORDER BY count { (n)--() }',
    rows: [{ 'count { (n)--() }': 1 }, { 'count { (n)--() }': 2 }],
    ordered: true,
  },
  {
    name: 'WITH and a condition on it',
    query:
      'MATCH (p:Person)-[:WORKS_AT]->(c) WHERE p.project_id = $project_id WITH c, count(p) AS staff WHERE staff > 1 RETURN c.name AS name',
    rows: names('Acme'),
  },
  {
    name: 'WITH star',
    query:
      "MATCH (p:Person {name: 'Ada'})-->() WHERE p.project_id = $project_id WITH *, p.age + 1 AS next RETURN DISTINCT p.name AS name, next",
    rows: [{ name: 'Ada', next: 37 }],
  },
  {
    name: 'RETURN star leaves our names out',
    query: "MATCH (p:Person {name: 'Cleo'})-[:WORKS_AT]->() WHERE p.project_id = $project_id RETURN *",
    rows: [{ p: { labels: ['Person'], name: 'Cleo', age: 29, city: 'London', project_id: own } }],
  },
  {
    name: 'OPTIONAL MATCH',
    query:
      'MATCH (n:Person) WHERE n.project_id = $project_id OPTIONAL MATCH (n)-[:WROTE]->(d:Document) RETURN n.name AS name, d.name AS doc',
    rows: [
      { name: 'Ada', doc: 'Plan' },
      { name: 'Bob', doc: 'Notes' },
      { name: 'Cleo', doc: null },
      { name: 'Dan', doc: null },
    ],
  },
  {
    name: 'OPTIONAL MATCH with a condition',
    query:
      "MATCH (n:Person) WHERE n.project_id = $project_id OPTIONAL MATCH (n)-[r:WORKS_AT]->(c) WHERE toUpper(r.role) = 'CTO' RETURN n.name AS name, c.name AS at",
    rows: [
      { name: 'Ada', at: 'Acme' },
      { name: 'Bob', at: null },
      { name: 'Cleo', at: null },
      { name: 'Dan', at: null },
    ],
  },
  {
    name: 'EXISTS',
    query: 'MATCH (n:Person) WHERE n.project_id = $project_id AND EXISTS { (n)-[:WROTE]->() } RETURN n.name AS name',
    rows: names('Ada', 'Bob'),
  },
  {
    name: 'pattern predicate',
    query: 'MATCH (n:Person) WHERE n.project_id = $project_id AND NOT (n)-[:WORKS_AT]->() RETURN n.name AS name',
    rows: names('Dan'),
  },
  {
    name: 'pattern predicate next to its keyword',
    query: 'MATCH (n:Person) WHERE n.project_id = $project_id AND NOT(n)-[:WORKS_AT]->() RETURN n.name AS name',
    rows: names('Dan'),
  },
  {
    name: 'EXISTS with a query',
    query:
      "MATCH (n:Person) WHERE n.project_id = $project_id AND EXISTS { MATCH (n)-[:KNOWS]->(m) WHERE m.city = 'London' } RETURN n.name AS name",
    rows: names('Bob'),
  },
  {
    name: 'COUNT in WHERE',
    query:
      'MATCH (n:Company) WHERE n.project_id = $project_id AND COUNT { (n)<-[:WORKS_AT]-() } > 1 RETURN n.name AS name',
    rows: names('Acme'),
  },
  {
    name: 'COLLECT',
    query:
      'MATCH (n:Company) WHERE n.project_id = $project_id RETURN n.name AS name, COLLECT { MATCH (n)<--(p) RETURN p.name } AS staff',
    rows: [
      { name: 'Acme', staff: ['Ada', 'Bob'] },
      { name: 'Beta', staff: ['Cleo'] },
    ],
  },
  {
    name: 'pattern comprehension',
    query:
      "MATCH (n:Person {name: 'Bob'}) WHERE n.project_id = $project_id RETURN [(n)-[:KNOWS]-(m) WHERE m.age < 40 | m.name] AS friends",
    rows: [{ friends: ['Ada', 'Cleo'] }],
  },
  {
    name: 'map projection',
    query:
      "MATCH (n:Person {name: 'Cleo'}) WHERE n.project_id = $project_id RETURN n {.name, at: [(n)-[:WORKS_AT]->(c) | c.name]} AS person",
    rows: [{ person: { name: 'Cleo', at: ['Beta'] } }],
  },
  {
    name: 'UNION',
    query:
      'MATCH (n:Company) WHERE n.project_id = $project_id RETURN n.name AS name UNION MATCH (d:Document) WHERE d.project_id = $project_id RETURN d.name AS name',
    rows: names('Acme', 'Beta', 'Plan', 'Notes'),
  },
  {
    name: 'CALL subquery',
    query:
      'MATCH (c:Company) WHERE c.project_id = $project_id CALL (c) { MATCH (c)<-[:WORKS_AT]-(p) RETURN max(p.age) AS oldest } RETURN c.name AS name, oldest',
    rows: [
      { name: 'Acme', oldest: 41 },
      { name: 'Beta', oldest: 29 },
    ],
  },
  {
    name: 'begins with CALL',
    query: 'CALL { MATCH (c:Company) WHERE c.project_id = $project_id RETURN c } RETURN c.name AS name',
    rows: names('Acme', 'Beta'),
  },
  {
    name: 'begins with UNWIND',
    query: 'UNWIND $names AS name MATCH (n {name: name}) WHERE n.project_id = $project_id RETURN n.name AS name',
    params: { names: ['Ada', 'Acme'] },
    rows: names('Ada', 'Acme'),
  },
  {
    name: 'rows of maps',
    query:
      'UNWIND $rows AS row MATCH (n {name: row.name}) WHERE n.project_id = $project_id RETURN n.name AS name, row.k AS k',
    params: {
      rows: [
        { name: 'Ada', k: 1 },
        { name: 'Eve', k: 2 },
      ],
    },
    rows: [{ name: 'Ada', k: 1 }],
  },
  {
    name: 'begins with WITH',
    query:
      'WITH 30 AS least MATCH (n:Person) WHERE n.project_id = $project_id AND n.age >= least RETURN n.name AS name',
    rows: names('Ada', 'Bob', 'Dan'),
  },
  {
    name: 'begins with OPTIONAL MATCH',
    query: "OPTIONAL MATCH (n:Person {name: 'Nobody'}) WHERE n.project_id = $project_id RETURN n.name AS name",
    rows: [{ name: null }],
  },
  {
    name: 'begins with RETURN',
    query: 'RETURN COUNT { MATCH (n:Person) WHERE n.project_id = $project_id } AS c',
    rows: [{ c: 4 }],
  },
  {
    name: 'CASE, reduce and list work',
    query:
      "MATCH (n:Document) WHERE n.project_id = $project_id RETURN CASE WHEN n.pages > 5 THEN 'long' ELSE 'short' END AS kind, reduce(s = '', t IN n.tags | s + t) AS tags, [i IN range(1, 3) | i * n.pages] AS l",
    rows: [
      { kind: 'long', tags: 'ab', l: [10, 20, 30] },
      { kind: 'short', tags: 'b', l: [3, 6, 9] },
    ],
  },
  {
    name: 'a range over a list',
    query:
      "MATCH (n {name: 'Plan'}) WHERE n.project_id = $project_id UNWIND range(0, size(n.tags) - 1) AS i RETURN n.tags[i] AS tag",
    rows: [{ tag: 'a' }, { tag: 'b' }],
  },
  {
    name: 'names in backticks and of keywords',
    query:
      'MATCH (`the node`:Company)<-[`in`:WORKS_AT]-(match) WHERE `the node`.project_id = $project_id RETURN `the node`.name AS `the name`, `in`.role AS end, match.name',
    rows: [
      { 'the name': 'Acme', end: 'CTO', 'match.name': 'Ada' },
      { 'the name': 'Acme', end: 'Dev', 'match.name': 'Bob' },
      { 'the name': 'Beta', end: 'Dev', 'match.name': 'Cleo' },
    ],
  },
  {
    name: 'granted projects',
    query: 'MATCH (n:Person) WHERE n.project_id IN $project_ids RETURN n.name AS name',
    granted: true,
    rows: names('Ada', 'Bob', 'Cleo', 'Dan', 'Zoe'),
  },
  {
    name: 'over to a granted project',
    query:
      "MATCH (n {name: 'Ada'})-[:KNOWS]->(m)-[:WORKS_AT]->(c) WHERE n.project_id IN $project_ids AND m.project_id <> $project_id RETURN c.name AS name",
    granted: true,
    rows: names('Gamma'),
  },
  {
    name: 'not over to a granted project without asking',
    query: "MATCH (n {name: 'Ada'})-[:KNOWS]->(m) WHERE n.project_id = $project_id RETURN m.name AS name",
    granted: true,
    rows: names('Bob'),
  },
  {
    name: 'characters beyond the basic plane',
    query:
      "MATCH (n:Company {project_id: $project_id}) RETURN '😀' AS `😀`, [(n)<--(p {name: 'Cleo'}) | '😀' + p.name] LIMIT 0",
    rows: [],
  },
  {
    name: 'element functions',
    query:
      "MATCH (n {name: 'Ada'})-[r:WROTE]->(m) WHERE n.project_id = $project_id RETURN labels(m) AS l, type(r) AS t, startNode(r).name AS s, elementId(n) AS id",
    rows: [{ l: ['Document'], t: 'WROTE', s: 'Ada', id: 'element' }],
  },
];
