import { describe, expect, test } from '@jest/globals';
import { csvFormatOf } from '../../../../src/base/csv.js';
import { extractText } from '../../../../src/domain/knowledge/extract.js';
import { typeOf } from '../../../../src/domain/files/mime-type.js';
import { verifies } from '../../../support/verifies.js';

const textOf = (text: string, type: string) => extractText(new Uint8Array(Buffer.from(text, 'latin1')), type);
const rtf = (text: string) => textOf(text, 'application/rtf');

describe('RTF', () => {
  test.each([
    ['escaped characters', "{\\rtf1\\ansi Caf\\'e9 \\{x\\} a\\\\'b}", "Café {x} a\\'b"],
    ['characters of Unicode without those for other readers', "{\\rtf1\\uc1 \\u8364?5 and \\u1071\\'df}", '€5 and Я'],
    [
      'the character set of each font',
      "{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0 A;}{\\f1\\fcharset204 B;}{\\f2\\fcharset128 C;}}\\f1\\'cf\\'f0\\f0\\'e9 \\f2\\'82\\'a0}",
      'Прé あ',
    ],
    [
      'no tables of styles, pictures and hidden text',
      '{\\rtf1{\\stylesheet{\\s1 Style;}}{\\*\\generator Word;}{\\pict ffd8}{\\v hidden}{\\field{\\*\\fldinst LINK}{\\fldrslt shown}}}',
      'shown',
    ],
    ['paragraphs and cells', '{\\rtf1 one\\par two\\cell three\\row}', 'one\n\ntwo | three'],
    ['a number that is not hexadecimal', "{\\rtf1 a\\'zzb}", 'a  zzb'],
  ])('shows %s', async (_name, source, text) => {
    verifies('knowledge-base.formats');
    expect(await rtf(source)).toBe(text);
  });

  test('refuses binary data that is longer than the file', async () => {
    verifies('knowledge-base.safe-formats');
    await expect(rtf('{\\rtf1 text{\\pict\\bin4000000000 x}}')).rejects.toThrow('it is not complete');
  });
});

describe('tables', () => {
  test.each([
    ['values in the first row', '1,a,2026-01-02\n2,b,2026-01-03\n', 'column 1: 1\ncolumn 2: a\ncolumn 3: 2026-01-02'],
    ['years as names', 'state,2009,2010\nOhio,5,6\n', 'state: Ohio\n2009: 5\n2010: 6'],
    ['a title above', 'Sales\n\nname;city;sum\nEva;Bonn;1\nBob;Rome;2\n', 'Sales\n\nname: Eva\ncity: Bonn\nsum: 1'],
    ['columns without values', 'a,b,c\n1,,\n', 'a: 1\n\nempty columns: b, c'],
  ])('with %s', async (_name, csv, text) => {
    verifies('knowledge-base.csv');
    expect(await textOf(csv, 'text/csv')).toMatch(text);
  });

  test('sentences with commas are one column', () => {
    verifies('knowledge-base.csv');
    expect(csvFormatOf('quote\nHello, world\nGood, bye\n').delimiter).not.toBe(',');
  });
});

test('each line of JSON Lines is a record', async () => {
  verifies('knowledge-base.formats');
  const lines = '{"a": 1}\n\n{"a": 2}\n';
  expect((await typeOf(Buffer.from(lines), true, 'a.jsonl')).mimeType).toBe('application/json');
  expect(await textOf(lines, 'application/json')).toBe('a: 1\n\na: 2');
  await expect(textOf('{"a": 1}\n{"a": }\n', 'application/json')).rejects.toThrow('not valid at position 15');
});

test('XML without a declaration is recognized by its name and its first element', async () => {
  verifies('knowledge-base.formats');
  expect((await typeOf(Buffer.from('<!-- x -->\n<feed a="b">x</feed>'), true, 'a.xml')).mimeType).toBe(
    'application/xml',
  );
  expect((await typeOf(Buffer.from('a < b'), true, 'a.xml')).mimeType).toBe('text/plain');
});
