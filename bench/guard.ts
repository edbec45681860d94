import { createQueryGuard } from '../src/graph/guard/guard.js';
import { figure, median, range, type Figure } from './measure.js';

const texts = 60;
const sizes = [150, 2_000, 10_000];

/**
 * Measures the guard against its goal, because there is no baseline. The texts differ in one name, so that the guard
 * has cached none of them.
 */
export async function benchGuard(): Promise<Figure[]> {
  return sizes.flatMap((characters) => {
    const guard = createQueryGuard();
    const samples = range(texts * 2).map((index) => queryOf(characters, index));
    for (const text of samples.slice(0, texts)) guard(text);
    const measured = samples.slice(texts);
    const firstSight = median(measured.map((text) => timeOf(() => guard(text))));
    const cached = median(measured.map((text) => timeOf(() => guard(text))));
    return [
      figure(
        `guard at first sight, ${characters} characters, against the goal for 2,000`,
        'ms',
        firstSight,
        8,
        'at most 1 for 2,000',
      ),
      figure(`guard when seen before, ${characters} characters`, 'ms', cached, 0.2, 'at most 1'),
    ];
  });
}

function timeOf(run: () => unknown): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

const stages = [
  'MATCH (a:Person)-[r:KNOWS]->(b:Person {name: $name}) WHERE a.project_id = $project_id AND a.age > 30',
  'OPTIONAL MATCH (a)-[:WORKS_AT]->(c:Company)<-[:WORKS_AT]-(d) WHERE c.size > 10',
  "WITH a, b, count(d) AS peers WHERE peers > 1 AND toLower(a.name) CONTAINS 'x'",
  'MATCH p = (a)-[:KNOWS*1..3]->(e) WHERE EXISTS { (e)-[:WROTE]->(:Document) }',
  'WITH a, b, peers, [x IN nodes(p) | x.name] AS names, [(a)-->(f) WHERE f.pages > 3 | f.name] AS docs',
];

const plainStage =
  "WITH *, CASE WHEN m.age > 30 AND m.city IN ['London', 'Paris', 'Rome'] THEN toUpper(m.name) + ' of ' + coalesce(m.city, 'nowhere') ELSE left(m.name, 3) END AS label," +
  ' reduce(sum = 0, x IN [1, 2, 3] | sum + x * m.age) AS total, {name: m.name, ages: [y IN range(0, 5) WHERE y % 2 = 0 | y + m.age]} AS card';

/** Returns a query of about this length. */
function queryOf(characters: number, index: number): string {
  let text = `MATCH (n${index}:Person)-[:KNOWS]->(m) WHERE n${index}.project_id = $project_id AND n${index}.age > ${index}`;
  const end = ` RETURN n${index}.name AS name, m.age ORDER BY name LIMIT 10`;
  if (characters > 200) text += ` WITH n${index}, m`;
  for (let stage = 0; text.length + end.length + 60 < characters; stage += 1) {
    // A query can have at most 100 elements in its patterns, so expressions fill the rest.
    text += stage < stages.length * 4 ? ` ${stages[stage % stages.length] ?? ''}` : ` ${plainStage}`;
    if (stage % stages.length === stages.length - 1 && stage < 20)
      text += ` MATCH (n${index} {project_id: $project_id}), (m)`;
  }
  if (characters > 200) text += ` MATCH (n${index} {project_id: $project_id}), (m)`;
  return text + end;
}
