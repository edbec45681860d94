import { parse } from 'csv-parse/sync';
import { csvFormatOf } from '../../../base/csv.js';
import type { Section } from '../chunks.js';
import { reasonOf, UnreadableDocument } from '../limits.js';
import { recordsOfRows, sectionOfRecords } from '../records.js';

/** Converts each row to lines of column and value. @throws UnreadableDocument */
export function fromCsv(text: string): Section[] {
  return [sectionOfRecords(recordsOfRows(rowsOf(text)))];
}

function rowsOf(text: string): string[][] {
  try {
    return parse(text, {
      ...csvFormatOf(text),
      bom: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      trim: true,
    });
  } catch (error) {
    throw new UnreadableDocument(`the CSV cannot be read: ${reasonOf(error)}`);
  }
}
