import type { Query } from './worlds.js';

/** Attacks by text: differences between the parsers of the guard and the database, and other kinds of statement. */
export const textAttacks: Query[] = [
  { name: 'filter in a line comment', query: 'MATCH (n) // WHERE n.project_id = $project_id\nRETURN n' },
  { name: 'filter in a block comment', query: 'MATCH (n) /* WHERE n.project_id = $project_id */ RETURN n' },
  { name: 'filter in a string', query: "MATCH (n) RETURN n, 'WHERE n.project_id = $project_id' AS x" },
  { name: 'filter in a quoted name', query: 'MATCH (n) RETURN n AS `WHERE n.project_id = $project_id`' },
  { name: 'comment that ends the clause', query: 'MATCH (n) WHERE n.project_id = $project_id OR true //\nRETURN n //' },
  { name: 'comment in a comment', query: 'MATCH (n) /* /* */ WHERE n.project_id = $project_id OR true RETURN n /* */' },
  {
    name: 'unicode escape that ends a string',
    query: "MATCH (n) WHERE n.project_id = $project_id AND n.name <> '\\u0027 OR true //' RETURN n",
  },
  {
    name: 'unicode escape that ends a comment',
    query: 'MATCH (n) WHERE n.project_id = $project_id /* \\u002a\\u002f OR true /* */ RETURN n',
  },
  { name: 'unicode escape in a keyword', query: 'MATCH (n) WHERE n.project_id = $project_id \\u004fR true RETURN n' },
  {
    name: 'unicode escape that ends a quoted name',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n AS `x\\u0060, 1 AS y`',
  },
  {
    name: 'next-line character as a line end',
    query: 'MATCH (n) WHERE n.project_id = $project_id //\u0085 OR true\nRETURN n',
  },
  {
    name: 'line separator after a comment',
    query: 'MATCH (n) WHERE n.project_id = $project_id //\u2028 OR true \nRETURN n',
  },
  {
    name: 'lone carriage return after a comment',
    query: 'MATCH (n) WHERE n.project_id = $project_id //\r OR true RETURN n',
  },
  { name: 'NUL byte', query: 'MATCH (n) WHERE n.project_id = $project_id \0 OR true RETURN n' },
  { name: 'lone surrogate', query: "MATCH (n) WHERE n.project_id = $project_id OR n.name = '\ud800' RETURN n" },
  { name: 'fullwidth signs', query: 'MATCH (n) WHERE n.project_id = $project_id OR 1 ＝ 1 RETURN n' },
  {
    name: 'quoted name with a quote inside',
    query:
      'MATCH (`n``) WHERE true RETURN 1 //`) WHERE `n``) WHERE true RETURN 1 //`.project_id = $project_id OR true RETURN `n``) WHERE true RETURN 1 //`',
  },
  { name: 'variable named as a keyword', query: 'MATCH (NOT) WHERE NOT.project_id = $project_id OR true RETURN NOT' },
  {
    name: 'variable named WHERE',
    query: 'MATCH (WHERE WHERE true) WHERE WHERE.project_id = $project_id OR true RETURN WHERE',
  },
  { name: 'variable named CASE', query: 'MATCH (CASE) WHERE `CASE`.project_id = $project_id OR true RETURN `CASE`' },
  {
    name: 'arithmetic that looks like a pattern',
    query: 'MATCH (n) WHERE n.project_id = $project_id WITH n.age AS a, 1 AS b RETURN (a)<-(b) AS c',
  },
  {
    name: 'arithmetic with brackets that looks like a pattern',
    query: 'MATCH (n) WHERE n.project_id = $project_id AND (n)<-[m]-(n) RETURN n',
  },
  { name: 'two statements', query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n; MATCH (m) RETURN m' },
  {
    name: 'two statements by a comment',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n /* ; */ ; RETURN 1',
  },
  { name: 'EXPLAIN', query: 'EXPLAIN MATCH (n) WHERE n.project_id = $project_id RETURN n' },
  { name: 'PROFILE', query: 'PROFILE MATCH (n) WHERE n.project_id = $project_id RETURN n' },
  { name: 'CYPHER options', query: 'CYPHER runtime=interpreted MATCH (n) WHERE n.project_id = $project_id RETURN n' },
  { name: 'Cypher 25', query: 'CYPHER 25 MATCH (n) WHERE n.project_id = $project_id RETURN n' },
  { name: 'PROFILE after a comment', query: '/* */ PROFILE MATCH (n) WHERE n.project_id = $project_id RETURN n' },
  { name: 'USE', query: 'USE system MATCH (n) WHERE n.project_id = $project_id RETURN n' },
  {
    name: 'USE in a subquery',
    query: "MATCH (n {project_id: $project_id}) CALL { USE graph.byName('neo4j') MATCH (m) RETURN m } RETURN m",
  },
  { name: 'SHOW', query: 'SHOW DATABASES' },
  {
    name: 'SHOW TRANSACTIONS',
    query: 'SHOW TRANSACTIONS YIELD currentQuery, parameters RETURN currentQuery, parameters',
  },
  { name: 'TERMINATE', query: "TERMINATE TRANSACTIONS 'neo4j-transaction-1'" },
  { name: 'schema command', query: 'CREATE INDEX FOR (n:Person) ON (n.project_id)' },
  { name: 'drop', query: 'DROP DATABASE neo4j' },
  { name: 'LOAD CSV of a file', query: "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line" },
  {
    name: 'LOAD CSV of an internal address',
    query:
      "MATCH (n {project_id: $project_id}) LOAD CSV FROM 'http://169.254.169.254/latest/meta-data/' AS line RETURN line",
  },
  {
    name: 'LOAD CSV in a subquery',
    query: "MATCH (n {project_id: $project_id}) CALL { LOAD CSV FROM 'file:///etc/hosts' AS l RETURN l } RETURN l",
  },
  { name: 'CREATE at the end', query: 'MATCH (n) WHERE n.project_id = $project_id CREATE (m:Evil) RETURN m' },
  {
    name: 'CREATE in a subquery',
    query: 'MATCH (n) WHERE n.project_id = $project_id CALL (n) { CREATE (m:Evil) RETURN m } RETURN m',
  },
  { name: 'SET', query: 'MATCH (n) WHERE n.project_id = $project_id SET n.project_id = 1 RETURN n' },
  { name: 'SET with a map', query: 'MATCH (n) WHERE n.project_id = $project_id SET n += {project_id: 1} RETURN n' },
  { name: 'FOREACH', query: 'MATCH (n) WHERE n.project_id = $project_id FOREACH (x IN [1] | CREATE (:Evil)) RETURN n' },
  { name: 'MERGE', query: 'MATCH (n) WHERE n.project_id = $project_id MERGE (m:Evil) RETURN m' },
  { name: 'DETACH DELETE', query: 'MATCH (n) WHERE n.project_id = $project_id DETACH DELETE n' },
  { name: 'REMOVE', query: 'MATCH (n) WHERE n.project_id = $project_id REMOVE n.name RETURN n' },
  { name: 'INSERT', query: 'MATCH (n) WHERE n.project_id = $project_id INSERT (:Evil) RETURN n' },
  {
    name: 'CREATE in EXISTS',
    query: 'MATCH (n) WHERE n.project_id = $project_id AND EXISTS { CREATE (m) RETURN m } RETURN n',
  },
  {
    name: 'CALL IN TRANSACTIONS',
    query: 'MATCH (n {project_id: $project_id}) CALL (n) { MATCH (m) RETURN m } IN TRANSACTIONS RETURN m',
  },
  { name: 'no filter', query: 'MATCH (n) RETURN n' },
  { name: 'filter on a constant', query: "MATCH (n) WHERE n.project_id = 'other' RETURN n" },
  {
    name: 'filter on a caller parameter',
    query: 'MATCH (n) WHERE n.project_id = $other RETURN n',
    params: { other: 'x' },
  },
  { name: 'filter against its own property', query: 'MATCH (n) WHERE n.project_id = n.project_id RETURN n' },
  {
    name: 'parameter that shadows',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n',
    params: { project_id: 'x' },
  },
  {
    name: 'parameter that shadows the list',
    query: 'MATCH (n) WHERE n.project_id IN $project_ids RETURN n',
    params: { project_ids: ['x'] },
  },
  {
    name: 'parameter that shadows the scope',
    query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n',
    params: { __guard_scope: ['x'] },
  },
  { name: 'scope parameter read', query: 'MATCH (n) WHERE n.project_id = $project_id RETURN $__guard_scope AS s' },
  { name: 'our names taken', query: 'MATCH (__guard_1)-->() WHERE __guard_1.project_id = $project_id RETURN *' },
  {
    name: 'our names taken in backticks',
    query: 'MATCH (`__guard_1`)-->() WHERE `__guard_1`.project_id = $project_id RETURN *',
  },
  { name: 'list of projects without a grant', query: 'MATCH (n) WHERE n.project_id IN $project_ids RETURN n' },
  {
    name: 'list of projects made longer',
    query: 'MATCH (n) WHERE n.project_id IN $project_ids + [n.project_id] OR n.project_id IN $project_ids RETURN n',
  },
  {
    name: 'granted project does not open the others',
    query: 'MATCH (n)-[r*1..3]-(m) WHERE n.project_id IN $project_ids OR true RETURN m, r',
    granted: true,
  },
  { name: 'unfinished comment', query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n /*' },
  { name: 'unfinished string', query: "MATCH (n) WHERE n.project_id = $project_id RETURN 'n" },
];
