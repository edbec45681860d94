import { describe, expect, test } from '@jest/globals';
import { hasType, isExactNumber, isNumberText, parseJson, withNumbersKept } from '../src/base/json.js';
import { verifies } from './support/verifies.js';

describe('parseJson', () => {
  test.each([
    ['9007199254740993', '9007199254740993'],
    ['-9007199254740993', '-9007199254740993'],
    ['9223372036854775808', '9223372036854775808'],
    ['[1, 9007199254740993 ,2]', [1, '9007199254740993', 2]],
    ['{"a":{"b":12345678901234567890}}', { a: { b: '12345678901234567890' } }],
    ['1e400', '1e400'],
    ['1e-400', '1e-400'],
    ['90071992547409931e1', '90071992547409931e1'],
    ['12345678901234.5678', '12345678901234.5678'],
    ['{"1234567890123456789":"1234567890123456789"}', { '1234567890123456789': '1234567890123456789' }],
    [
      '["\\\\",1234567890123456789,"\\\\\\"",1234567890123456789]',
      ['\\', '1234567890123456789', '\\"', '1234567890123456789'],
    ],
    ['["\\u0022 1234567890123456789"]', ['" 1234567890123456789']],
  ])('keeps the digits of %s', (text, expected) => {
    verifies('json.exact-numbers');
    expect(parseJson(text)).toEqual(expected);
  });

  test.each([
    ...['0', '-0', '1.0', '1e2', '9007199254740992', '-9007199254740992', '1152921504606847000', '1e23', '5e-324'],
    ...[
      '0.1',
      '0.10000000000000001',
      '3.141592653589793',
      '0.1000000000000000055511151231257827',
      '100.000000000000000000',
    ],
    ...['1.7976931348623157e308', '123456789012345680000', 'true', '"a"', 'null', '[]', '{"__proto__":1}'],
  ])('returns what JSON.parse returns for %s', (text) => {
    verifies('json.exact-numbers');
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test.each([
    '',
    '{',
    '[1234567890123456789',
    '"1234567890123456789',
    '01234567890123456789',
    '{"a":1234567890123456789,}',
  ])('refuses %s as JSON.parse does', (text) => expect(() => parseJson(text)).toThrow(SyntaxError));

  test('takes linear time for long texts', () => {
    const text = JSON.stringify(['\\"'.repeat(500_000), ...Array.from({ length: 50_000 }, () => 1)]);
    const long = `${text.slice(0, -1)},1234567890123456789]`;
    const begun = process.cpuUsage();
    expect((parseJson(long) as unknown[]).at(-1)).toBe('1234567890123456789');
    expect(parseJson(`[${'['.repeat(2000)}1234567890123456789${']'.repeat(2000)}]`)).toBeDefined();
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(3000);
  });
});

test('the text of a number counts as a number, and no other text does', () => {
  verifies('json.exact-numbers');
  expect(hasType('9007199254740993', 'integer')).toBe(true);
  expect(hasType('12345678901234.5678', 'number')).toBe(true);
  expect(hasType('12345678901234.5678', 'integer')).toBe(false);
  for (const text of ['5', '1.5', 'one', '', '9007199254740993x', ' 9007199254740993'])
    expect(hasType(text, 'number')).toBe(false);
  expect(isNumberText('9007199254740993')).toBe(true);
  expect(isExactNumber('9007199254740993')).toBe(false);
  expect(withNumbersKept('[1, 9007199254740993]')).toBe('[1, "9007199254740993"]');
});
