import type { Json } from '../../src/graph/store/values.js';

interface Parameter {
  in: string;
  name: string;
}

export interface Operation {
  method: string;
  path: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { example?: Json }> };
}

export interface OpenApi {
  paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>;
}

export const operationsOf = ({ paths }: OpenApi): Operation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method, path })),
  );

const bodyBytes = 1024 * 1024 - 2048;

/** Repeats `unit` as often as it fits into `bytes`. */
export const filled = (unit: string, bytes = bodyBytes): string =>
  unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)));

/** Texts that take detectors, parsers and templates the most work, each in one body. */
export const texts: Record<string, string> = {
  mails: filled('a@b.co '),
  cards: filled('4111 1111 1111 1111 '),
  accounts: filled('DE89 3704 0044 0532 0130 00 '),
  numbers: filled('+49 170 1234567 tel 123-45-6789 '),
  tokens: filled('svc_sk_abcdefgh12345678 https://u:p@h '),
  brackets: filled('('),
  template: filled('{{ a }}{% if a %}{% endif %}'),
  openTemplate: filled('{{'),
  spaces: `${filled(' ', bodyBytes - 10)}x`,
  letters: filled('a'),
  escapes: filled('ﷺ'),
  sentences: filled('Acme is at Berlin. '),
};

const match = 'MATCH (n) WHERE n.project_id = $project_id';

/** The Cypher that is slowest to parse, slightly below and far beyond the limits of the guard. */
export const queries: Record<string, string> = {
  'labels in a row': `MATCH (n${':A'.repeat(3900)}) WHERE n.project_id = $project_id RETURN n AS x$try`,
  'labels in a row of a write': `CREATE (n${':A'.repeat(3900)}) RETURN n AS x$try`,
  'rows of labels': `${match} AND ${`n${':A'.repeat(100)} AND `.repeat(18)} true RETURN n AS x$try`,
  'many clauses': `${match} ${'WITH n '.repeat(2800)} RETURN n AS x$try`,
  'clauses within the bound': `${match} ${'WITH n '.repeat(55)} RETURN n AS x$try`,
  'many subqueries': `${match} ${'CALL { RETURN 1 AS y } '.repeat(490)} RETURN n AS x$try`,
  'many columns': `${match} WITH n, ${Array.from({ length: 400 }, (_, at) => `n AS a${at}`).join(',')} ${'WITH * '.repeat(55)} RETURN n AS x$try`,
  'letters that are not ASCII': `${match} RETURN ${'ä '.repeat(9800)} AS x$try`,
  'a text that is not ASCII': `${match} RETURN "${'界'.repeat(2990)}" AS x$try`,
  'a question that is not ASCII': `谁 ${'界'.repeat(19_000)} $try`,
  'rows of labels, then an error': `${match} AND ${`n${':A'.repeat(100)} AND `.repeat(18)} true RETURN n AS x$try-a`,
  'many cases, then an error': `${match} AND ${'CASE WHEN true THEN 1 END AND '.repeat(500)} true RETURN n AS x$try-a`,
  'many paragraphs, then an error': `${match} AND (${'n.a OR '.repeat(225)} true${'\n\n'.repeat(400)}RETURN ] AS x$try`,
  'many paragraphs of answers': `${match} RETURN n AS x$try (${'\n\nRETURN 1'.repeat(1500)}`,
  'many fences': '```\nMATCH (n\n```\n'.repeat(1000) + '$try',
  'a broken write': `CREATE (a) ${'SET a.b=1 '.repeat(1200)} $try`,
};

const array = (unit: string) => `[${filled(`${unit},`, bodyBytes - 10)}${unit}]`;

/** Whole bodies, as JSON text; some are not JSON. */
export const bodies: Record<string, string> = {
  'open brackets': filled('['),
  'nested objects': `${filled('{"a":', bodyBytes * 0.8)}1${'}'.repeat(Math.floor(Math.floor(bodyBytes * 0.8) / 5))}`,
  'empty objects': array('{}'),
  'empty texts': array('""'),
  'many fields': `{${Array.from({ length: 45_000 }, (_, at) => `"field_${at}":0`).join(',')}}`,
  'a text': JSON.stringify(texts.letters),
};

const megabytes = 1024 * 1024;

/** Forms and queries (application/x-www-form-urlencoded) that take parsers the most work. */
export const forms: Record<string, string> = {
  'different parameters': Array.from({ length: 6_000 }, (_, at) => `p${at}=1`).join('&'),
  'the same parameter': filled('scope=a&', 60_000),
  'empty parameters': filled('&', 60_000),
  'parameters without a value': filled('a&', 60_000),
  'escaped characters': filled('%26%3D', 60_000),
  'a long value': `state=${filled('a', 60_000)}`,
};

/** Bodies of uploads, with many or large fields before the file, and files whose types are hard to detect. */
export function multipartBodies(boundary: string): Record<string, string> {
  const field = (name: string, value: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const file = (name: string, content: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n${content}\r\n`;
  const whole = (...parts: string[]) => `${parts.join('')}--${boundary}--\r\n`;
  const tags = (count: number) => JSON.stringify(Array.from({ length: count }, (_, at) => `t${at}`));
  const head = 64 * 1024;
  return {
    'fields of many tags': whole(...Array.from({ length: 1_000 }, () => field('tags', tags(9_000))), file('a', 'x')),
    'one field of many tags': whole(field('tags', tags(8_500)), file('a.txt', 'x')),
    'many fields': whole(...Array.from({ length: 100_000 }, (_, at) => field(`f${at}`, '')), file('a.txt', 'x')),
    'one name many times': whole(...Array.from({ length: 100_000 }, () => field('tags', 'a')), file('a.txt', 'x')),
    'a large field': whole(field('tags', filled('a', 20 * megabytes)), file('a.txt', 'x')),
    'a long name': whole(field(filled('n', megabytes), 'x'), file('a.txt', 'x')),
    'a field of brackets': whole(field('tags', filled('[', head - 1)), file('a.txt', 'x')),
    'many headers': whole(
      `--${boundary}\r\n${filled('a: b\r\n', megabytes)}content-disposition: form-data; name="tags"\r\n\r\na\r\n`,
    ),
    'many files': whole(...Array.from({ length: 2_000 }, (_, at) => file(`${at}.txt`, 'x'))),
    'files of comments': whole(...Array.from({ length: 20 }, (_, at) => file(`${at}`, filled('<!---->', head)))),
    'files of open comments': whole(...Array.from({ length: 20 }, (_, at) => file(`${at}`, filled('<!--', head)))),
    'files of declarations': whole(...Array.from({ length: 20 }, (_, at) => file(`${at}`, filled('<?xml ', head)))),
    'files of spaces': whole(...Array.from({ length: 20 }, (_, at) => file(`${at}`, filled(' ', head)))),
    'files of brackets': whole(...Array.from({ length: 20 }, (_, at) => file(`${at}.json`, filled('[', head)))),
    'boundaries that are none': whole(file('a.txt', filled(`\r\n--${boundary.slice(0, -1)}`, 5 * megabytes))),
  };
}

const fields = (count: number, prefix: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, at]));

/** Values that replace one field of a body. */
export const values: Record<string, Json> = {
  'many objects': Array.from({ length: 29_900 }, () => ({})),
  'many fields': fields(2000, 'f'),
  'objects with many fields': Array.from({ length: 24 }, (_, at) => fields(2000, `f${at}_`)),
  'nested objects': JSON.parse(`${'{"a":'.repeat(55)}1${'}'.repeat(55)}`) as Json,
};

/** A body that the operation accepts. */
export function exampleOf({ requestBody }: Operation): Json | undefined {
  return requestBody?.content['application/json']?.example;
}

/** Bodies with `value` in each field in turn, and with arrays of the maximum number of entries. */
export function* withField(example: Json, value: Json, depth = 0): Generator<{ field: string; body: Json }> {
  if (typeof example !== 'object' || example === null || depth > 3) return;
  const put = (field: string, body: Json): Json =>
    Array.isArray(example) ? [body, ...example.slice(1)] : { ...example, [field]: body };
  for (const [field, inner] of Object.entries(example).slice(0, Array.isArray(example) ? 1 : undefined)) {
    if (typeof value !== 'string' || typeof inner === 'string') yield { field, body: put(field, value) };
    for (const deeper of withField(inner, value, depth + 1))
      yield { field: `${field}.${deeper.field}`, body: put(field, deeper.body) };
  }
}

/** Bodies in which an array of the example has the maximum length of a body. */
export function* withLongArrays(example: Json): Generator<{ field: string; body: Json }> {
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return;
  for (const [field, inner] of Object.entries(example)) {
    if (!Array.isArray(inner) || inner[0] === undefined) continue;
    const size = JSON.stringify(inner[0]).length + 1;
    const valuesOfItem = JSON.stringify(inner[0]).split(/[,[{]/).length;
    const length = Math.floor(Math.min((bodyBytes - JSON.stringify(example).length) / size, 29_000 / valuesOfItem));
    yield { field, body: { ...example, [field]: Array.from({ length }, () => inner[0] as Json) } };
  }
}
