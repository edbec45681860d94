import { cutPosition } from '../../base/text.js';
import { chunkSize, type Section } from './chunks.js';

/** A value with its name: a cell of a table with its column, or a value of a JSON or XML document. */
export interface Field {
  name: string;
  value: string;
}

/** A longer name is shortened where it is repeated. */
const maxRepeatedName = 200;

/**
 * Writes each record as a paragraph with a line `name: value` for each field. A record that is longer than a chunk
 * becomes several paragraphs, and each part of a long value begins with its name, so that every chunk can be understood
 * alone.
 */
export function sectionOfRecords(
  records: Iterable<readonly Field[]>,
  { heading = null, page = null }: Partial<Pick<Section, 'heading' | 'page'>> = {},
): Section {
  const paragraphs: string[] = [];
  for (const record of records) {
    let paragraph = '';
    for (const line of linesOf(record)) {
      if (paragraph !== '' && paragraph.length + 1 + line.length > chunkSize) {
        paragraphs.push(paragraph);
        paragraph = '';
      }
      paragraph = paragraph === '' ? line : `${paragraph}\n${line}`;
    }
    if (paragraph !== '') paragraphs.push(paragraph);
  }
  return { heading, page, text: paragraphs.join('\n\n'), overlap: false };
}

/**
 * Converts rows to records: the cells of the first row are the names of those below. Lines of one cell above a table are
 * its title. A first row of values, such as numbers and dates, has no names.
 */
export function recordsOfRows(rows: readonly (readonly string[])[]): Field[][] {
  const titles = titlesAbove(rows);
  const [first = [], ...others] = rows.slice(titles.length);
  const above = titles.map((value) => [{ name: '', value }]);
  if (others.length === 0) return [...above, [{ name: '', value: first.join(', ') }]];
  const isNamed = !isRowOfValues(first, others);
  const records = (isNamed ? others : [first, ...others]).map((row) =>
    row.map((value, at) => ({ name: (isNamed && first[at]) || `column ${at + 1}`, value })),
  );
  const unused = isNamed
    ? first.filter((name, at) => name.trim() !== '' && !others.some((row) => row[at]?.trim()))
    : [];
  const empty = unused.length > 0 ? [[{ name: 'empty columns', value: unused.join(', ') }]] : [];
  return [...above, ...records, ...empty];
}

const maxTitles = 10;

const filledIn = (row: readonly string[]) => row.filter((cell) => cell.trim() !== '');

function titlesAbove(rows: readonly (readonly string[])[]): string[] {
  const at = rows.findIndex((row) => filledIn(row).length > 1);
  // A table has names and at least one more row of several cells.
  if (at < 1 || at > maxTitles || !rows.slice(at + 1).some((row) => filledIn(row).length > 1)) return [];
  return rows.slice(0, at).flatMap(filledIn);
}

const kinds = {
  number: /^[-+]?\d[\d.,]{0,30}(?:e[-+]?\d{1,3})?%?$/i,
  date: /^(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{4}\/\d\d\/\d\d)(?:[T ].{1,20})?$/,
  time: /^\d{1,2}:\d\d(?::\d\d)?(?:\.\d{1,9})?$/,
  choice: /^(?:true|false|yes|no)$/i,
};
const year = /^(?:1[89]|20)\d\d$/;

function kindOf(cell = ''): string | undefined {
  return Object.entries(kinds).find(([, pattern]) => pattern.test(cell.trim()))?.[0];
}

/** Whether the first row begins with a value, consists mostly of values, and the next row has the same kinds of them. */
function isRowOfValues(first: readonly string[], [second = []]: readonly (readonly string[])[]): boolean {
  const values = [...first.entries()].filter(([, cell]) => kindOf(cell) !== undefined);
  if (kindOf(first[0]) === undefined || values.length * 2 < filledIn(first).length) return false;
  if (values.every(([, cell]) => year.test(cell.trim()))) return false;
  return values.every(([at, cell]) => (second[at] ?? '').trim() === '' || kindOf(second[at]) === kindOf(cell));
}

function* linesOf(record: readonly Field[]): Generator<string> {
  for (const { name, value } of record) {
    // An empty line would end the paragraph.
    const lines = value.split('\n').filter((line) => line.trim() !== '');
    let rest = lines.join('\n').trim();
    if (rest === '') continue;
    const label = name === '' ? '' : `${name.replace(/\s+/g, ' ').trim()}: `;
    if (label.length + rest.length <= chunkSize) {
      yield label + rest;
      continue;
    }
    const repeated = label.length > maxRepeatedName ? `${label.slice(0, maxRepeatedName).toWellFormed()}…: ` : label;
    while (rest !== '') {
      const at = cutPosition(rest, chunkSize - repeated.length);
      yield repeated + rest.slice(0, at).trim();
      rest = rest.slice(at).trim();
    }
  }
}
