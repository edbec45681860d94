import type { Query } from './worlds.js';

interface WorkAttack extends Query {
  /** Matches the text of the refusal. An attack without it runs, and the database must stop it. */
  refused?: RegExp;
}

const node = 'MATCH (n) WHERE n.project_id = $project_id';
const rows = `${node} WITH n LIMIT 1 UNWIND range(1, 10000) AS a`;
const strings = (count: number, length: number) =>
  Array.from({ length: count }, (_, at) => 'a'.repeat(length) + String(10_000 + at));
const tooMuch = /may take \d+ steps in one row; at most 20000000/;
const tooLarge = /may grow to \d+ characters and elements; at most 30000000/;

/** Returns a reduction with the given number of steps of about 40 ns each. */
const reduction = (outer: number, inner: number) =>
  `reduce(s = 0, i IN range(1, ${outer}) | s + size([j IN range(1, ${inner}) WHERE j < a]))`;

/** Attacks that keep the database busy after the response, or that fill its memory. */
export const workAttacks: WorkAttack[] = [
  {
    name: 'regular expression in a parameter',
    query: `${node} RETURN $s =~ $p AS x`,
    params: { s: 'a'.repeat(30), p: '(a*)*\\1b' },
    refused: /regular expression literal/,
  },
  {
    name: 'computed regular expression',
    query: `${node} RETURN $s =~ ('(a*)' + '*b') AS x`,
    params: { s: 'a'.repeat(30) },
    refused: /regular expression literal/,
  },
  {
    name: 'repetition of a repetition',
    query: `${node} RETURN $s =~ '(a*)*b' AS x`,
    params: { s: 'a'.repeat(30) },
    refused: /a repetition or a choice inside a repetition/,
  },
  {
    name: 'choice in a repetition',
    query: `${node} RETURN $s =~ '(a|aa)+b' AS x`,
    params: { s: 'a'.repeat(60) },
    refused: /a repetition or a choice inside a repetition/,
  },
  {
    name: 'repetition deep in a repeated group',
    query: `${node} RETURN $s =~ '((x(a+)y?))*b' AS x`,
    params: { s: 'a'.repeat(60) },
    refused: /a repetition or a choice inside a repetition/,
  },
  {
    name: 'back reference',
    query: `${node} RETURN $s =~ '(a*)\\\\1b' AS x`,
    params: { s: 'a'.repeat(30) },
    refused: /a back reference/,
  },
  {
    name: 'look ahead',
    query: `${node} RETURN $s =~ '(?=(a+))a*b' AS x`,
    params: { s: 'a'.repeat(30) },
    refused: /a group that begins with/,
  },
  {
    name: 'many optional characters',
    query: `${node} RETURN $s =~ '${'a?'.repeat(40)}${'a'.repeat(40)}' AS x`,
    params: { s: 'a'.repeat(40) },
    refused: tooMuch,
  },
  {
    name: 'two open repetitions on a long text',
    query: `${node} RETURN $s =~ '.*A.*' AS x`,
    params: { s: `${'A'.repeat(32_768)}\n` },
    refused: tooMuch,
  },
  { name: 'two open repetitions on a stored text', query: `${node} AND n.text =~ '.*A.*' RETURN n`, refused: tooMuch },
  {
    name: 'counted repetitions',
    query: `${node} RETURN $s =~ '.{1,900}.{1,900}.{1,900}b' AS x`,
    params: { s: 'a'.repeat(2700) },
    refused: tooMuch,
  },
  {
    name: 'reduce in reduce',
    query: `${node} RETURN reduce(s = 0, i IN range(1, 10000) | s + reduce(t = 0, j IN range(1, 10000) | t + j)) AS x`,
    refused: tooLarge,
  },
  {
    name: 'comprehension in a comprehension',
    query: `${node} RETURN [i IN range(1, 10000) | size([j IN range(1, 10000) | j])] AS x`,
    refused: tooMuch,
  },
  {
    name: 'property with the name of a property of objects',
    query: `${node} RETURN [i IN range(1, 10000) | size([j IN range(1, 10000) WHERE j = n.constructor])] AS x`,
    refused: tooMuch,
  },
  {
    name: 'parameter with the name of a property of objects',
    query: `${node} RETURN [i IN range(1, 10000) | size([j IN range(1, 10000) WHERE j = $valueOf])] AS x`,
    params: { valueOf: 1 },
    refused: tooMuch,
  },
  {
    name: 'quantifier in a quantifier',
    query: `${node} RETURN all(i IN range(1, 10000) WHERE any(j IN range(1, 10000) WHERE i + j < 0)) AS x`,
    refused: tooMuch,
  },
  {
    name: 'three deep over parameters',
    query: `${node} RETURN [a IN $l | [b IN $l | [c IN $l | a + b + c]]] AS x`,
    params: { l: Array.from({ length: 1000 }, (_, at) => at) },
    refused: tooLarge,
  },
  {
    name: 'loop over two parameters',
    query: `${node} RETURN [a IN $l WHERE any(b IN $m WHERE a = b)] AS x`,
    params: { l: strings(8000, 30), m: strings(8000, 30) },
    refused: tooMuch,
  },
  {
    name: 'IN within a loop',
    query: `${node} RETURN [a IN $l WHERE a IN $m] AS x`,
    params: { l: strings(8000, 30), m: strings(8000, 30) },
    refused: tooMuch,
  },
  {
    name: 'nested lists of a parameter',
    query: `${node} RETURN [a IN $l | [b IN a WHERE b IN $m]] AS x`,
    params: { l: [Array.from({ length: 9900 }, (_, at) => at)], m: Array.from({ length: 9900 }, (_, at) => -at) },
    refused: tooMuch,
  },
  {
    name: 'loop over what was collected',
    query: `${node} WITH collect(n.at) AS l RETURN [a IN l WHERE any(b IN l WHERE a + b < 0)] AS x`,
    refused: tooMuch,
  },
  {
    name: 'loop over what COLLECT gathered',
    query: `${node} WITH COLLECT { MATCH (m) WHERE m.project_id = $project_id RETURN m.at } AS l RETURN [a IN l WHERE a IN [b IN l | b + 1]] AS x`,
    refused: tooMuch,
  },
  {
    name: 'loop over a split text',
    query: `${node} WITH split($s, '') AS l RETURN [a IN l WHERE any(b IN l WHERE a > b)] AS x`,
    params: { s: 'a'.repeat(100_000) },
    refused: tooMuch,
  },
  {
    name: 'loop over stored lists',
    query: `${node} RETURN [a IN n.list | [b IN n.list | a + b]] AS x`,
    refused: tooLarge,
  },
  {
    name: 'loop over a range of a size',
    query: `${node} RETURN [a IN range(0, size($s)) | [b IN range(0, size($s)) WHERE a + b < 0]] AS x`,
    params: { s: 'a'.repeat(100_000) },
    refused: tooLarge,
  },
  {
    name: 'subquery in a loop',
    query: `${node} RETURN [a IN range(1, 10000) | COUNT { UNWIND range(1, 10000) AS b WITH b WHERE ${reduction(10, 100)} < 0 RETURN b }] AS x`,
    refused: tooMuch,
  },
  {
    name: 'CONTAINS of long texts',
    query: `${node} RETURN $s CONTAINS $t AS x`,
    params: { s: 'a'.repeat(500_000), t: `${'a'.repeat(250_000)}b` },
    refused: tooMuch,
  },
  {
    name: 'split by a long text',
    query: `${node} RETURN size(split($s, $t)) AS x`,
    params: { s: 'a'.repeat(500_000), t: `${'a'.repeat(250_000)}b` },
    refused: tooMuch,
  },
  {
    name: 'replace of a long text',
    query: `${node} RETURN size(replace($s, $t, '')) AS x`,
    params: { s: 'a'.repeat(500_000), t: `${'a'.repeat(250_000)}b` },
    refused: tooMuch,
  },
  {
    name: 'growth by replace',
    query: `WITH replace($a, 'x', $b) AS s ${node} WITH n, replace(s, 'x', $b) AS s RETURN size(replace(s, 'x', $b)) AS x`,
    params: { a: 'x'.repeat(1000), b: 'x'.repeat(1000) },
    refused: tooLarge,
  },
  {
    name: 'growth by replace with nothing',
    query: `${node} RETURN size(replace(replace($a, '', $a), '', $a)) AS x`,
    params: { a: 'x'.repeat(5000) },
    refused: tooLarge,
  },
  {
    name: 'growth by replace in reduce',
    query: `${node} RETURN size(reduce(s = 'x', i IN range(1, 40) | replace(s, 'x', 'xx'))) AS x`,
    refused: /may only add/,
  },
  {
    name: 'growth by + in clauses',
    query: `${node} WITH n, $a AS s ${'WITH n, s + s AS s '.repeat(12)} RETURN size(s) AS x`,
    params: { a: 'x'.repeat(10_000) },
    refused: tooLarge,
  },
  {
    name: 'growth by + in reduce',
    query: `${node} RETURN size(reduce(s = 'x', i IN range(1, 40) | s + s)) AS x`,
    refused: /may only add/,
  },
  {
    name: 'growth by lists of lists',
    query: `${node} WITH n, $l AS l ${'WITH n, l + l + l AS l '.repeat(9)} RETURN size(l) AS x`,
    params: { l: Array.from({ length: 10_000 }, (_, at) => at) },
    refused: tooLarge,
  },
  {
    name: 'growth by a long list in reduce',
    query: `${node} RETURN size(reduce(l = [], i IN range(1, 10000) | l + $l)) AS x`,
    params: { l: Array.from({ length: 10_000 }, (_, at) => at) },
    refused: tooLarge,
  },
  {
    name: 'growth by interpolated maps',
    query: `${node} WITH {a: $l} AS m ${'WITH {a: m, b: m, c: m} AS m '.repeat(9)} RETURN size(toString(m.a.a.a)) AS x`,
    params: { l: Array.from({ length: 10_000 }, (_, at) => at) },
    refused: tooLarge,
  },
  {
    name: 'a chain of thousands',
    query: `${node} RETURN ${'1+'.repeat(1500)}1 AS x`,
    refused: /at most 1000 operators/,
  },
  {
    name: 'equal lists in a loop',
    query: `${node} RETURN [i IN range(1, 5000) WHERE $l = $m] AS x`,
    params: {
      l: Array.from({ length: 9900 }, (_, at) => at),
      m: Array.from({ length: 9900 }, (_, at) => (at === 9899 ? 0 : at)),
    },
    refused: tooMuch,
  },

  {
    name: 'product of UNWINDs',
    query: `${rows} UNWIND range(1, 10000) AS b UNWIND range(1, 10000) AS c RETURN count(*) AS x`,
  },
  {
    name: 'product of UNWINDs in a subquery',
    query: `${rows} CALL (a) { UNWIND range(1, 10000) AS b UNWIND range(1, 10000) AS c RETURN count(*) AS k } RETURN sum(k) AS x`,
  },
  {
    name: 'product of UNWINDs that is collected',
    query: `${rows} UNWIND range(1, 10000) AS b RETURN size(collect([a, b])) AS x`,
  },
  {
    name: 'product of UNWINDs that is sorted',
    query: `${rows} UNWIND range(1, 10000) AS b WITH a, b ORDER BY b % 77 DESC, a RETURN a, b`,
  },
  { name: 'work in each row', query: `${rows} RETURN sum(${reduction(1000, 1000)}) AS x` },
  {
    name: 'work in each row, distinct',
    query: `${rows} WITH DISTINCT ${reduction(1000, 2000)} AS y WHERE y < 0 RETURN y`,
  },
  {
    name: 'work in each row, in a condition',
    query: `${rows} MATCH (m) WHERE m.project_id = $project_id AND ${reduction(1000, 2000)} < 0 RETURN m`,
  },
  { name: 'work in each row, in an order', query: `${rows} WITH a ORDER BY ${reduction(1000, 2000)} RETURN a` },
  { name: 'work in each row, in a property', query: `${rows} MATCH (m {at: ${reduction(1000, 2000)}}) RETURN m` },
  {
    name: 'work in each row, in an imported subquery',
    query: `${rows} CALL { WITH a WITH ${reduction(1000, 2000)} AS y WHERE y < 0 RETURN y } RETURN y`,
  },
  {
    name: 'work in each row, in a scoped subquery',
    query: `${rows} CALL (a) { RETURN ${reduction(1000, 2000)} AS y } WITH y WHERE y < 0 RETURN y`,
  },
  {
    name: 'work in each row, in EXISTS',
    query: `${rows} WITH a WHERE EXISTS { MATCH (m) WHERE m.project_id = $project_id AND ${reduction(1000, 2000)} < 0 } RETURN a`,
  },
  {
    name: 'work in each row, in COUNT',
    query: `${rows} WITH a WHERE COUNT { UNWIND range(1, 1000) AS b WITH b WHERE ${reduction(100, 100)} < 0 RETURN b } > 0 RETURN a`,
  },
  {
    name: 'work in each row, over many small clauses',
    query: `${rows} ${Array.from({ length: 60 }, (_, at) => `WITH a, ${reduction(30, 1000)} AS y${at}`).join(' ')} RETURN count(*) AS x`,
    refused: /more than 60 clauses/,
  },
  {
    name: 'large list in each row',
    query: `${rows} UNWIND range(1, 10000) AS b WITH a, b WHERE a + b IN $l AND a * b IN $l AND toString(b) IN $l RETURN a`,
    params: { l: Array.from({ length: 19_000 }, (_, at) => -at - 1) },
  },
  {
    name: 'regular expression after an escaped bracket',
    query: String.raw`${node} RETURN $s =~ '\[?(a|aa)+x(b)?\2' AS x`,
    params: { s: 'a'.repeat(60) },
    refused: /a repetition or a choice inside a repetition/,
  },
  {
    name: 'back reference with one backslash',
    query: String.raw`${node} RETURN $s =~ '(a.*)x\1' AS x`,
    params: { s: 'a'.repeat(60) },
    refused: /a back reference/,
  },
  ...['RETURN range(0, 9000) AS x UNION ALL RETURN [1] AS x', 'RETURN [1] AS x UNION RETURN range(0, 9000) AS x'].map(
    (union, at) => ({
      name: `nested lists over a column of branch ${at + 1} of a UNION`,
      query: `${node} CALL { ${union} } RETURN size([a IN x WHERE size([b IN x WHERE size([c IN x | c * 2]) > 1]) > 1]) AS s`,
      refused: tooMuch,
    }),
  ),
  {
    name: 'Cartesian product',
    query: 'MATCH (a), (b), (c), (d), (e) WHERE a.project_id = $project_id RETURN count(*) AS x',
  },
  {
    name: 'Cartesian product in an expression',
    query: `${node} RETURN COUNT { MATCH (a), (b), (c), (d) WHERE a.at + b.at + c.at + d.at < 0 } AS x`,
  },
  {
    name: 'Cartesian product in a comprehension',
    query: `${node} RETURN size([(a)-[*0..1]-(b) WHERE size([(c)-[*0..1]-(d) WHERE c.at + d.at + a.at < 0 | 1]) > 0 | 1]) AS x`,
  },
  {
    name: 'paths of every length',
    query: 'MATCH p = (a)-[*1..15]-(b) WHERE a.project_id = $project_id RETURN count(p) AS x',
  },
  {
    name: 'a chain that is hard to plan',
    query: `MATCH ${Array.from({ length: 48 }, (_, at) => `(a${at})--`).join('')}(z) WHERE a0.project_id = $project_id RETURN count(*) AS x`,
  },
  {
    name: 'a star that is hard to plan',
    query: `MATCH ${Array.from({ length: 33 }, (_, at) => `(a)--(b${at})`).join(', ')} WHERE a.project_id = $project_id RETURN count(*) AS x`,
  },
  {
    name: 'a condition that is hard to plan',
    query: `${node} AND (${Array.from({ length: 250 }, (_, at) => `(n.x${at} = 1 AND n.y${at} = 2)`).join(' OR ')}) RETURN n`,
  },
  {
    name: 'a number of many digits',
    query: `${node} RETURN [i IN range(1, 100) | toIntegerOrNull($s)][0] AS x`,
    params: { s: '9'.repeat(900_000) },
    refused: tooMuch,
  },
  {
    name: 'rows of an empty text',
    query: `UNWIND $s AS z UNWIND $l AS i WITH collect(i) AS xs ${node}
      RETURN all(a IN xs WHERE all(b IN xs WHERE all(c IN xs WHERE a <= b OR b <= c OR c >= a))) AS x`,
    params: { s: '', l: Array.from({ length: 3000 }, (_, at) => at) },
    refused: tooMuch,
  },
  {
    name: 'a list of a list of nodes',
    query: `${node} WITH n LIMIT 1 UNWIND range(1, 3000) AS i WITH collect(n) AS ns WITH [ns] AS w
      RETURN all(a IN w[0] WHERE all(b IN w[0] WHERE all(c IN w[0] WHERE a IS NOT NULL OR b = c))) AS x`,
    refused: tooMuch,
  },
  {
    name: 'a list of nodes in a map',
    query: `${node} WITH n LIMIT 1 UNWIND range(1, 3000) AS i WITH {a: collect(n)} AS w
      RETURN all(a IN w.a WHERE all(b IN w.a WHERE all(c IN w.a WHERE a IS NOT NULL OR b = c))) AS x`,
    refused: tooMuch,
  },
  {
    name: 'a list of nodes or of nothing',
    query: `${node} WITH coalesce(collect(n), []) AS ns RETURN [x IN ns | x.text + x.text =~ '.*A.*'] AS x`,
    refused: tooMuch,
  },
  {
    name: 'a variable of the outer query, which a subquery does not see',
    query: `${node} WITH n LIMIT 1 CALL { ${node} RETURN collect(n.name) AS ns }
      RETURN all(a IN ns WHERE all(b IN ns WHERE all(c IN ns WHERE a <= b OR b <= c))) AS x`,
    refused: tooMuch,
  },
];
