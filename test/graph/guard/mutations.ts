/** Small and seeded, so that a finding can be reproduced (mulberry32). */
export function randomOf(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    below: (limit: number) => Math.floor(next() * limit),
    pick: <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)] as T,
    chance: (probability: number) => next() < probability,
  };
}

type Random = ReturnType<typeof randomOf>;

const nodes = [
  '(n)',
  '(m)',
  '()',
  '(:Person)',
  '(m:Secret_{{W}})',
  '(n:Person {project_id: $project_id})',
  "(k {name: 'Ada'})",
  '(m WHERE 1 / m.age > 0)',
  '(n WHERE n.age > 30)',
  '(m {age: 1 / n.age})',
];
const ties = [
  '--',
  '-->',
  '<--',
  '-[r]->',
  '-[:KNOWS]-',
  '-[*1..2]->',
  '-[q:KNOWS*..3]-',
  '-[s WHERE s.since > 2000]->',
  '-[:KNOWS]->{1,2}',
  '-->+',
  '-[:SECRET_{{W}}]-',
];
const values = [
  'n.name',
  'm.secret',
  'n',
  'm',
  '1',
  'count(*)',
  'COUNT { (n)--() }',
  'COUNT { (m) }',
  '[(n)--(x) | x.name]',
  '[p = (n)-[*1..2]-(y) WHERE 1 / y.age > 0 | length(p)]',
  'COLLECT { MATCH (z) RETURN z.name }',
  'properties(m)',
  'labels(m)',
  'EXISTS { (m)-->(:Secret_{{W}}) }',
  '1 / m.age',
  'size(keys(m))',
  "m['secret']",
  'n {.*}',
];
const conditions = [
  'true',
  'n.project_id = $project_id',
  'm.project_id = $project_id',
  'NOT n.project_id = $project_id',
  '(n)--(m)',
  'NOT (m)-->()',
  'EXISTS { (n)-->(w:Secret_{{W}}) }',
  'EXISTS { MATCH (n)--(w) WHERE 1 / w.age > 0 }',
  '1 / m.age > 0',
  'm.secret IS NOT NULL',
  "n.name STARTS WITH 'A'",
  'm:Secret_{{W}}',
  'COUNT { (n)--() } > 1',
  'any(x IN [m.age] WHERE 1 / x > 0)',
  'm.age = n.age',
  'date(m.secret) > date()',
  'n.age IN [36, m.age]',
];

function pattern(random: Random, hops: number): string {
  let text = random.pick(nodes);
  for (let hop = 0; hop < hops; hop += 1) text += random.pick(ties) + random.pick(nodes);
  return text;
}

function condition(random: Random): string {
  const parts = [random.pick(conditions)];
  while (random.chance(0.5)) parts.push(random.pick(['AND', 'OR', 'XOR', 'AND NOT']), random.pick(conditions));
  return parts.join(' ');
}

function clause(random: Random): string {
  const hops = random.below(3);
  const where = random.chance(0.6) ? ` WHERE ${condition(random)}` : '';
  const path = pattern(random, hops);
  return random.pick([
    `MATCH ${path}${where}`,
    `MATCH ${path}, ${pattern(random, 1)}${where}`,
    `OPTIONAL MATCH ${path}${where}`,
    `CALL { MATCH ${path}${where} RETURN count(*) AS c${random.below(9)} }`,
    `CALL (*) { MATCH ${path}${where} RETURN ${random.pick(values)} AS v${random.below(9)} }`,
    `WITH *, ${random.pick(values)} AS w${random.below(9)}`,
    `WITH DISTINCT *${where}`,
    `MATCH p${random.below(9)} = shortestPath((n)-[*..3]-(m))${where}`,
    `MATCH (n) (${random.pick(nodes)}${random.pick(ties)}${random.pick(nodes)}${where}){1,2} (m)`,
  ]);
}

/** A query of the grammar's read clauses over own and foreign names, mostly valid. */
export function generated(random: Random): string {
  const clauses = ['MATCH (n {project_id: $project_id}), (m)'];
  if (random.chance(0.3))
    clauses[0] = `MATCH (n), (m:Secret_{{W}}) WHERE n.project_id = $project_id OR ${condition(random)}`;
  for (let count = random.below(3); count > 0; count -= 1) clauses.push(clause(random));
  const query = `${clauses.join(' ')} RETURN ${random.chance(0.2) ? '*' : random.chance(0.5) ? `${random.pick(values)} AS a` : `${random.pick(values)} AS a, ${random.pick(values)} AS b`}`;
  return random.chance(0.15) ? `${query} UNION ALL ${query}` : query;
}

const pieces = [
  'OR true',
  'AND',
  'NOT',
  '(m)',
  '--',
  'MATCH (m)',
  'RETURN',
  'WITH *',
  ', m',
  'UNION',
  '{',
  '}',
  '(',
  ')',
  '//',
  '/*',
  '*/',
  "'",
  '`',
  '$project_id',
  'WHERE',
  '*',
  '.',
  'n',
  'm.secret',
  ':Secret_{{W}}',
  '[',
  ']',
  '|',
  'OPTIONAL',
  'CALL',
  'EXISTS',
];

/** Omits, doubles, swaps or inserts tokens, or appends the tail of another query. */
export function mutated(random: Random, query: string, other: string): string {
  const words = query.split(/(\s+|[(){}[\],.|`'])/).filter((word) => word !== '');
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    const at = random.below(words.length);
    switch (random.below(5)) {
      case 0:
        words.splice(at, 1 + random.below(3));
        break;
      case 1:
        words.splice(at, 0, words[random.below(words.length)] ?? '');
        break;
      case 2:
        words.splice(at, 0, ` ${random.pick(pieces)} `);
        break;
      case 3:
        words.splice(at, 1, ` ${random.pick(pieces)} `);
        break;
      default:
        words.splice(at, words.length, ...other.slice(random.below(other.length)).split(/(\s+)/));
        break;
    }
  }
  return words.join('');
}
