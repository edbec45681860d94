import { describe, expect, test } from '@jest/globals';
import { answerGate, checkJson, checkValueCount, refuseRounded } from '../src/base/json-gate.js';

const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });

describe('checkJson', () => {
  test.each([
    ['NUL in a name', { a: { 'b\0': 1 } }, 'the answer: a: NUL characters are not allowed'],
    ['NUL in a text', { a: ['b\0'] }, 'the answer: a.0: NUL characters are not allowed'],
    ['a lone surrogate', { a: '\ud800' }, 'the answer: a: the text is not well-formed Unicode'],
    ['a prototype', JSON.parse('{"a":{"__proto__":{}}}'), 'the answer: a: the field name __proto__ is not allowed'],
    [
      'a type of the driver',
      { a: { _bsontype: 'ObjectId' } },
      'the answer: a: the field name _bsontype is not allowed',
    ],
    ['a number that is read as infinite', JSON.parse('{"a":1e400}'), 'the answer: a: the number is too large'],
    ['deep nesting', nested(65), 'the answer is nested deeper than 64 levels'],
  ])('refuses %s and names the position', (_name, value, message) => {
    expect(() => checkJson(value, answerGate('the answer'))).toThrow(message);
  });

  test('accepts what stores accept', () => {
    expect(() =>
      checkJson({ $where: 1, 'a.b': [nested(60)], constructor: 'x', '': '😀' }, answerGate('the answer')),
    ).not.toThrow();
  });
});

describe('checkValueCount', () => {
  test.each([
    ['[1,2]', 3],
    ['{"a,b":"[,{\\",,","c":[{},[]],"d":[1,2]}', 8],
    ['["a\\\\",1,"","\\\\\\",",2]', 6],
  ])('counts the values of %s', (text, values) => {
    expect(() => checkValueCount(Buffer.from(text), values)).not.toThrow();
    expect(() => checkValueCount(Buffer.from(text), values - 1)).toThrow('more than');
  });
});

describe('refuseRounded', () => {
  const check = (text: string) => checkValueCount(Buffer.from(text), 10, refuseRounded);

  test.each(['9007199254740993', '[1, -9007199254740993]', '{"a":12345678901234567890}', '1152921504606846976'])(
    'refuses %s, which would be stored with other digits',
    (text) => expect(() => check(text)).toThrow(/^the integer \d+ is too large to be kept exactly/),
  );

  test.each([
    '9007199254740991',
    '[-9007199254740992]',
    // As JSON.stringify writes 2 ** 60.
    '1152921504606847000',
    '{"a":"9007199254740993","9007199254740993":1}',
    '["\\"9007199254740993"]',
    '[0.12345678901234567890,12345678901234567.5,90071992547409930e1,1e30]',
  ])('accepts %s', (text) => expect(() => check(text)).not.toThrow());
});
