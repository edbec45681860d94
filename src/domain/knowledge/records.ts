import { cutPosition } from '../../cut-text.js';
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

/** Converts rows to records: the cells of the first row are the names of those below. */
export function recordsOfRows([columns = [], ...rows]: readonly (readonly string[])[]): Field[][] {
  if (rows.length === 0) return [[{ name: '', value: columns.join(', ') }]];
  return rows.map((row) => row.map((value, at) => ({ name: columns[at] || `column ${at + 1}`, value })));
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
