import { createQueryGuard } from '../src/graph/guard/guard.js';

export interface GuardTimes {
  characters: number;
  firstSightMs: { median: number; p95: number };
  cachedMs: { median: number; p95: number };
}

/** Texts that differ in one name each, so that every one is seen for the first time by a process that is warm. */
export function measureGuard({ texts = 60, sizes = [150, 2_000, 10_000] }: { texts?: number; sizes?: number[] } = {}): GuardTimes[] {
  return sizes.map((characters) => {
    const { guard } = createQueryGuard();
    const samples = Array.from({ length: texts * 2 }, (_, index) => queryOf(characters, index));
    for (const text of samples.slice(0, texts)) guard(text);
    const measured = samples.slice(texts);
    const firstSightMs = summary(measured.map((text) => timeOf(() => guard(text))));
    const cachedMs = summary(measured.map((text) => timeOf(() => guard(text))));
    return { characters, firstSightMs, cachedMs };
  });
}

function timeOf(run: () => unknown): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

function summary(times: number[]): { median: number; p95: number } {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => Number((sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(3));
  return { median: at(0.5), p95: at(0.95) };
}

const stages = [
  'MATCH (a:Person)-[r:KNOWS]->(b:Person {name: $name}) WHERE a.project_id = $project_id AND a.age > 30',
  'OPTIONAL MATCH (a)-[:WORKS_AT]->(c:Company)<-[:WORKS_AT]-(d) WHERE c.size > 10',
  "WITH a, b, count(d) AS peers WHERE peers > 1 AND toLower(a.name) CONTAINS 'x'",
  'MATCH p = (a)-[:KNOWS*1..3]->(e) WHERE EXISTS { (e)-[:WROTE]->(:Document) }',
  "WITH a, b, peers, [x IN nodes(p) | x.name] AS names, [(a)-->(f) WHERE f.pages > 3 | f.name] AS docs",
];

const plainStage =
  "WITH *, CASE WHEN m.age > 30 AND m.city IN ['London', 'Paris', 'Rome'] THEN toUpper(m.name) + ' of ' + coalesce(m.city, 'nowhere') ELSE left(m.name, 3) END AS label," +
  ' reduce(sum = 0, x IN [1, 2, 3] | sum + x * m.age) AS total, {name: m.name, ages: [y IN range(0, 5) WHERE y % 2 = 0 | y + m.age]} AS card';

/** Of about so many characters. */
function queryOf(characters: number, index: number): string {
  let text = `MATCH (n${index}:Person)-[:KNOWS]->(m) WHERE n${index}.project_id = $project_id AND n${index}.age > ${index}`;
  const end = ` RETURN n${index}.name AS name, m.age ORDER BY name LIMIT 10`;
  if (characters > 200) text += ` WITH n${index}, m`;
  for (let stage = 0; text.length + end.length + 60 < characters; stage += 1) {
    // A query may have 100 elements in its patterns: what is longer is long by its expressions.
    text += stage < stages.length * 4 ? ` ${stages[stage % stages.length] ?? ''}` : ` ${plainStage}`;
    if (stage % stages.length === stages.length - 1 && stage < 20) text += ` MATCH (n${index} {project_id: $project_id}), (m)`;
  }
  if (characters > 200) text += ` MATCH (n${index} {project_id: $project_id}), (m)`;
  return text + end;
}
