import { describe, expect, test } from '@jest/globals';
import { createRedact } from '../../../src/graph/redaction/redact.js';
import { isPlain } from '../../../src/graph/redaction/redact-text.js';
import { redactAnswer } from '../../../src/graph/redaction/redactor.js';
import { needsLint } from '../../../src/graph/redaction/secret.js';
import { verifies } from '../../support/verifies.js';
import { ordinary, personal } from './corpus.js';

describe('redaction of an answer', () => {
  for (const [label, texts] of Object.entries(personal)) {
    test.each(texts)(`removes ${label}: %s`, async (text) => {
      verifies('gateway.query.redaction');
      const { value } = await redactAnswer({ value: text });
      expect(value).toContain(`[redacted:${label}]`);
    });
  }

  test.each(ordinary)('keeps: %s', async (text) => {
    expect(await redactAnswer({ value: text })).toEqual({ value: text });
  });

  test('keeps the words around a redacted value', async () => {
    expect(await redactAnswer('Ask jane@example.com or +49 30 901820, order 20241121001 of 2024-11-21.')).toBe(
      'Ask [redacted:email] or [redacted:phone], order 20241121001 of 2024-11-21.',
    );
    expect(await redactAnswer('DE89 3704 0044 0532 0130 00 and more')).toBe('[redacted:iban] and more');
  });

  test('searches lists, maps, their keys, numbers, and facts by their predicate', async () => {
    verifies('gateway.query.redaction');
    const answer = {
      rows: [{ deep: [{ x: ['a jane@example.com b'] }] }, { 'jane@example.com': 1, 'joe@example.com': 2 }],
      card: 4_111_111_111_111_111,
      pieces: ['4111', '1111', '1111', '1111'],
      characters: [...'4111111111111111'],
      homePhone: 5_551_234_567,
      ssn: 123_456_789,
      password: 'hunter22',
      facts: [{ subject: 'e1', predicate: 'mobile_number', object: '5551234' }],
      kept: {
        phone_count: 120_000,
        password_policy: 'strict-one',
        at: 1_732_147_200_123,
        score: 0.5,
        flag: true,
        none: null,
      },
    };
    expect(await redactAnswer(answer)).toEqual({
      rows: [{ deep: [{ x: ['a [redacted:email] b'] }] }, { '[redacted:email]': 1, '[redacted:email] 2': 2 }],
      card: '[redacted:card]',
      pieces: Array(4).fill('[redacted:card]'),
      characters: Array(16).fill('[redacted:card]'),
      homePhone: '[redacted:phone]',
      ssn: '[redacted:national_id]',
      password: '[redacted:secret]',
      facts: [{ subject: 'e1', predicate: 'mobile_number', object: '[redacted:phone]' }],
      kept: answer.kept,
    });
  });

  test.each<[string, object]>([
    ['a name', { 'jane@example.com': 1 }],
    ['a number', { card: 4_111_111_111_111_111 }],
    ['pieces of a value', { pieces: ['4111', '1111', '1111', '1111'] }],
    ['a plain text by the name of its property', { password: 'hunter22' }],
    ['an id by the name of its property', { rows: [{ secret: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10' }] }],
    ['a fact by its predicate', { facts: [{ predicate: 'password', object: 'hunter22' }] }],
  ])('finds %s in an answer that contains nothing else', async (_what, answer) => {
    verifies('gateway.query.redaction');
    expect(JSON.stringify(await redactAnswer(answer))).toContain('[redacted:');
  });

  test('takes a UUID for harmless only if it stands alone', () => {
    const id = '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10';
    expect([id, `of ${id}.`, `x${id}`, `${id}y`].map(needsLint)).toEqual([false, false, true, true]);
    expect([id, id.toUpperCase(), `${id}y`].map(isPlain)).toEqual([true, true, false]);
  });

  test('redacts the same text by the name of each property', async () => {
    verifies('gateway.query.redaction');
    const shared = { word: 'hunter22', list: ['hunter22', 'a b'] };
    expect(
      await redactAnswer({ hunter22: shared, password: 'hunter22', secret: ['hunter22'], again: [shared] }),
    ).toEqual({ hunter22: shared, password: '[redacted:secret]', secret: ['[redacted:secret]'], again: [shared] });
  });

  test('takes time proportional to the length of any text', async () => {
    verifies('input.bounded');
    const hostile = [
      'a',
      '1',
      '1-',
      'a.',
      '@',
      '+1 ',
      '-----BEGIN RSA PRIVATE KEY-----',
      'password=',
      '://a:',
      'eyAAAAAAAAAAAA.',
      '(',
      '0 ',
      'A1',
      '12345 ',
      'call 12345 ',
    ];
    for (const piece of hostile) {
      const begun = process.cpuUsage();
      await redactAnswer({ value: piece.repeat(Math.ceil(100_000 / piece.length)) });
      expect(process.cpuUsage(begun).user / 1000).toBeLessThan(3000);
    }
  });

  test('runs in a thread if the detectors have much to read', async () => {
    verifies('input.bounded');
    const inThread = async (answer: unknown) => ({ inThread: answer });
    const redact = createRedact(inThread);
    const times = <T>(count: number, make: (at: number) => T): T[] =>
      Array.from({ length: count }, (_, at) => make(at));
    const shared = { city: 'Oslo', mail: 'jane@example.com' };
    expect(await redact(times(60, () => ({ since: 2000, shared })))).toEqual(
      times(60, () => ({ since: 2000, shared: { city: 'Oslo', mail: '[redacted:email]' } })),
    );
    for (const much of [
      times(300, (at) => `call 0${2_071_234_567 + at}`),
      times(300, (at) => 4_111_111_111_111_111 + at),
      times(120, () => ['4111', '1111', '1111', '1111']),
      times(3000, () => 1),
      { ['a name '.repeat(1000)]: 1 },
      'plain words '.repeat(500),
    ])
      expect(await redact<unknown>({ much })).toEqual({ inThread: { much } });
  });
});
