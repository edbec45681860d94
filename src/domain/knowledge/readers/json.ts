import { visit } from 'jsonc-parser';
import type { Section } from '../chunks.js';
import { refuseBeyond, UnreadableDocument } from '../limits.js';
import { type Field, sectionOfRecords } from '../records.js';

/**
 * Reads each value with its path, such as `people.0.name: Ann`. An object in a list is a record. Numbers are kept as they
 * are written, because JavaScript rounds long ones. @throws UnreadableDocument
 */
export function fromJson(json: string): Section[] {
  refuseBeyond(json.length);
  const text = json.replace(/^\uFEFF/, '');
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
        throw new UnreadableDocument(`the JSON is not valid at position ${offset}`);
      },
    },
    { disallowComments: false, allowTrailingComma: true },
  );
  end();
  return [sectionOfRecords(records)];
}
