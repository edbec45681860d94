import { visit } from 'jsonc-parser';
import { parseJsonOrUndefined } from '../../../base/json.js';
import type { Section } from '../chunks.js';
import { refuseBeyond, UnreadableDocument } from '../limits.js';
import { type Field, sectionOfRecords } from '../records.js';

/**
 * Reads each value with its path, such as `people.0.name: Ann`. An object in a list, and each line of JSON Lines, is a
 * record. Numbers are kept as they are written, because JavaScript rounds long ones. @throws UnreadableDocument
 */
export function fromJson(json: string): Section[] {
  refuseBeyond(json.length);
  const text = json.replace(/^\uFEFF/, '');
  const records: Field[][] = [];
  let start = 0;
  for (const document of isJsonLines(text) ? text.split('\n') : [text]) {
    if (document.trim() !== '' || start === 0) records.push(...recordsOf(document, start));
    start += document.length + 1;
  }
  return [sectionOfRecords(records)];
}

/** Whether the first line is a value of its own and more follow (JSON Lines). */
function isJsonLines(text: string): boolean {
  const start = text.trimStart();
  const end = start.indexOf('\n');
  return end !== -1 && start.slice(end).trim() !== '' && parseJsonOrUndefined(start.slice(0, end)) !== undefined;
}

/** @throws UnreadableDocument with the position in the file, which is that in the text after `start` */
function recordsOf(text: string, start: number): Field[][] {
  const records: Field[][] = [];
  let record: Field[] = [];
  const end = () => {
    if (record.length > 0) records.push(record);
    record = [];
  };
  visit(
    text,
    {
      onObjectBegin: (_offset, _length, _line, _character, path) => {
        if (typeof path().at(-1) === 'number') end();
      },
      onLiteralValue: (value: unknown, offset, length, _line, _character, path) => {
        const written = typeof value === 'string' ? value : text.slice(offset, offset + length);
        record.push({ name: path().join('.'), value: written });
      },
      onError: (_error, offset) => {
        throw new UnreadableDocument(`the JSON is not valid at position ${start + offset}`);
      },
    },
    { disallowComments: false, allowTrailingComma: true },
  );
  end();
  return records;
}
