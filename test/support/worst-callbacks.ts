import { filled } from './worst-inputs.js';

/** Slightly below `CALLBACK_BODY_LIMIT`. */
const bodyBytes = 25 * 1024 * 1024 - 4096;
/** Slightly below the limit of values, for the longest possible body. */
const manyValues = 245_000;
const valueBytes = Math.floor(bodyBytes / manyValues) - 8;
/** The letters that are slowest to decode. */
const slow = 'ﷺa';

const list = <T>(count: number, itemOf: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => itemOf(at));

/** The bodies that are slowest to decode, parse and search, for any receiver. */
export const anyBodies: Record<string, () => string> = {
  'open brackets': () => filled('[', bodyBytes),
  'nested objects': () => `${filled('{"a":', bodyBytes * 0.8)}1${'}'.repeat(Math.floor((bodyBytes * 0.8) / 5))}`,
  'empty texts': () => `[${filled('"",', bodyBytes - 10)}""]`,
  'many long texts': () => JSON.stringify(list(manyValues, () => 'x'.repeat(valueBytes))),
  'one text': () => JSON.stringify(filled('a', bodyBytes - 10)),
  'one text of other letters': () => JSON.stringify(filled(slow, bodyBytes - 10)),
  escapes: () => `"${filled('\\u00e9', bodyBytes - 10)}"`,
  'escaped quotes': () => `"${filled('\\"', bodyBytes - 10)}"`,
  'words of an acknowledgement': () => filled('reaso', bodyBytes),
  'names of repositories': () => filled(`"full_name":"${'a'.repeat(100)}`, bodyBytes),
  'an open name of a repository': () => filled(`"full_name"${' '.repeat(200)}`, bodyBytes),
};

/** Pushes of a code host; `after` makes each delivery unique. */
export function pushes(full_name: string): Record<string, { bodyOf: (after: string) => string; type: string }> {
  const push = (after: string, commits: object[]) =>
    JSON.stringify({ ref: 'refs/heads/main', after, repository: { full_name }, commits });
  const commit = (at: number, added: string[], message = 'm') => ({
    id: at.toString(16).padStart(40, '0'),
    message,
    author: { name: 'Ada', email: 'ada@example.com' },
    added,
  });
  const json = (commits: object[]) => ({ bodyOf: (after: string) => push(after, commits), type: 'application/json' });
  const spaces = commit(1, [], filled(' ', bodyBytes / 3 - 1000));
  const type = 'application/x-www-form-urlencoded';
  return {
    'many paths': json([
      commit(
        1,
        list(48_000, (at) => `${'p'.repeat(450)}/${at}`),
      ),
    ]),
    'many commits': json(list(3_500, (at) => commit(at, [], 'm'.repeat(6_500)))),
    'a long message': json([commit(1, [], filled(slow, bodyBytes - 1000))]),
    'a form': { bodyOf: (after) => `payload=${encodeURIComponent(push(after, [spaces]))}`, type },
    'a form of many fields': { bodyOf: (after) => `${after}=1&${filled('a&', bodyBytes - 100)}`, type },
  };
}

export const catalogEvents: Record<string, string> = {
  'many events': JSON.stringify(
    list(8_000, (at) => ({ eventType: 'e', entityType: 'table', entityFQN: `${at}${'n'.repeat(2_500)}` })),
  ),
  'a long kind': JSON.stringify({ eventType: 'e', entityType: filled('é', bodyBytes - 100) }),
  'wrong fields': JSON.stringify(list(manyValues, () => ({}))),
};

export function ingests(project_id: string): Record<string, string> {
  const ingest = (entities: object[], relationships: object[] = []) =>
    JSON.stringify({ project_id, source: 'measured', entities, relationships });
  const entity = (at: number, properties: object) => ({
    id: `e-${at}`,
    type: 'Thing',
    name: `thing ${at}`,
    properties,
  });
  return {
    // Within the 1 MiB that this receiver accepts.
    'long properties': ingest(list(40, (at) => entity(at, { text: 'x'.repeat(25_000) }))),
    'many properties': ingest(
      list(110, (at) => entity(at, Object.fromEntries(list(200, (field) => [`f${field}`, 'y'.repeat(35)])))),
    ),
    'wrong entities': ingest(list(manyValues - 100, () => ({}))),
  };
}

export const payloads: Record<string, { body: string | Buffer; type: string }> = {
  'bytes that are not text': { body: Buffer.alloc(bodyBytes, 0xff), type: 'application/octet-stream' },
  'an event with many values': {
    body: JSON.stringify({ event: 'x', event_id: 'e', values: list(manyValues, () => 'x'.repeat(valueBytes)) }),
    type: 'application/json',
  },
  'a form of many fields': { body: filled('a=1&', bodyBytes), type: 'application/x-www-form-urlencoded' },
};
