import { strFromU8, strToU8 } from 'fflate';

const rowOrCell = /<((?:\w{1,20}:)?)(row|c)(\s[^<>]{0,1000})?>/g;
const reference = /\sr\s?=\s?["']([A-Z]{0,3})(\d{1,7})["']/;
const emptySheet =
  '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData/></worksheet>';
/** Formats below this number are those of the standard (ECMA-376, 18.8.30), but some programs define their own there. */
const firstOwnFormat = 164;

/** Changes what programs write and the library for workbooks cannot read. The other parts stay as they are. */
export function mendedPart(name: string, content: Uint8Array): Uint8Array {
  if (/^xl\/chartsheets\/[^/]+\.xml$/i.test(name)) return strToU8(emptySheet);
  if (/^xl\/worksheets\/[^/]+\.xml$/i.test(name)) return strToU8(withReferences(strFromU8(content)));
  return /^xl\/styles\.xml$/i.test(name) ? strToU8(withOwnFormats(strFromU8(content))) : content;
}

/** Numbers the rows and cells that have no reference, which is optional, or one that was used before. */
function withReferences(sheet: string): string {
  let [row, column] = [0, 0];
  return sheet.replace(rowOrCell, (tag, prefix: string, element: string, written: string = '') => {
    const [found = '', letters = '', number = ''] = reference.exec(written) ?? [];
    if (element === 'row') {
      [row, column] = [Math.max(row + 1, Number(number)), 0];
      return Number(number) === row ? tag : `<${prefix}row r="${row}"${written.replace(found, '')}>`;
    }
    column = Math.max(column + 1, columnOf(letters));
    if (columnOf(letters) === column && Number(number) === row) return tag;
    return `<${prefix}c r="${lettersOf(column)}${row}"${written.replace(found, '')}>`;
  });
}

function withOwnFormats(styles: string): string {
  const own = new Set<string>();
  for (const [, id = ''] of styles.matchAll(/<(?:\w{1,20}:)?numFmt\s[^<>]{0,1000}?numFmtId="(\d{1,5})"/g)) {
    if (Number(id) > 0 && Number(id) < firstOwnFormat) own.add(id);
  }
  return own.size === 0
    ? styles
    : styles.replace(/numFmtId="(\d{1,5})"/g, (written, id: string) =>
        own.has(id) ? `numFmtId="${Number(id) + 10_000}"` : written,
      );
}

/** A is 1, Z is 26, AA is 27. */
function columnOf(letters: string): number {
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column;
}

function lettersOf(column: number): string {
  let letters = '';
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return letters;
}
