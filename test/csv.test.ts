import { describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { csvFormatOf } from '../src/base/csv.js';
import { verifies } from './support/verifies.js';

const rowsOf = (text: string) =>
  parse(text, { ...csvFormatOf(text), bom: true, relax_column_count: true, relax_quotes: true });

describe('csvFormatOf', () => {
  test.each([
    [
      'semicolons and decimal commas',
      'id;name;price\n1;Bolt;3,50\n',
      [
        ['id', 'name', 'price'],
        ['1', 'Bolt', '3,50'],
      ],
    ],
    [
      'a semicolon in a value',
      'name,note\nEva,c; d\n',
      [
        ['name', 'note'],
        ['Eva', 'c; d'],
      ],
    ],
    [
      'a tab in a value',
      'name,note\nEva,c\td\n',
      [
        ['name', 'note'],
        ['Eva', 'c\td'],
      ],
    ],
    [
      'tabs and empty cells',
      'a\tb\tc\n1\t\t3\n\t2,5\t\n',
      [
        ['a', 'b', 'c'],
        ['1', '', '3'],
        ['', '2,5', ''],
      ],
    ],
    [
      'pipes',
      'a|b\n1|2,5; 6\n',
      [
        ['a', 'b'],
        ['1', '2,5; 6'],
      ],
    ],
    [
      'delimiters in quoted names',
      '"a;b","c;d",e\n1,2,3\n',
      [
        ['a;b', 'c;d', 'e'],
        ['1', '2', '3'],
      ],
    ],
    [
      'delimiters in quoted lines',
      'a;b\n"1,2\n3,4";5\n',
      [
        ['a', 'b'],
        ['1,2\n3,4', '5'],
      ],
    ],
    [
      'commas in every column',
      'Sum, net;Cost, gross\n1,5;2,5\n',
      [
        ['Sum, net', 'Cost, gross'],
        ['1,5', '2,5'],
      ],
    ],
    [
      'a quote within a value',
      'a,b\n5" pipe,"x ""y"", z"\n',
      [
        ['a', 'b'],
        ['5" pipe', 'x "y", z'],
      ],
    ],
    ['one column', 'note\nhello, world; or | not\n', [['note'], ['hello, world; or | not']]],
    [
      'the first line of Excel',
      'sep=;\r\na;b\r\n1,5;x\r\n',
      [
        ['a', 'b'],
        ['1,5', 'x'],
      ],
    ],
    [
      'the first line of Excel in quotes',
      '\uFEFF"sep=\t"\na\tb\n1,5\t2;3\n',
      [
        ['a', 'b'],
        ['1,5', '2;3'],
      ],
    ],
    [
      'a delimiter that only Excel can name',
      'sep=^\na^b\n1,5^2;3\n',
      [
        ['a', 'b'],
        ['1,5', '2;3'],
      ],
    ],
    [
      'lines of old Macintoshes',
      'a;b\r1,5;2\r',
      [
        ['a', 'b'],
        ['1,5', '2'],
      ],
    ],
    [
      'lines with fewer and more values',
      'a,b,c\n1\n1,2;3\n1,2,3,4\n',
      [['a', 'b', 'c'], ['1'], ['1', '2;3'], ['1', '2', '3', '4']],
    ],
    ['nothing', '', []],
  ])('divides only at the delimiter of the file: %s', (_, text, expected) => {
    verifies('knowledge-base.csv');
    expect(rowsOf(text)).toEqual(expected);
  });
});
