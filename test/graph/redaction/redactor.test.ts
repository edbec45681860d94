import { describe, expect, test } from '@jest/globals';
import { redactAnswer } from '../../../src/graph/redaction/redactor.js';
import { verifies } from '../../support/verifies.js';
import { ordinary, personal } from './corpus.js';

describe('redaction of an answer', () => {
  for (const [label, texts] of Object.entries(personal)) {
    test.each(texts)(`takes out ${label}: %s`, async (text) => {
      verifies('gateway.query.redaction');
      const { value } = await redactAnswer({ value: text });
      expect(value).toContain(`[redacted:${label}]`);
    });
  }

  test.each(ordinary)('leaves as it is: %s', async (text) => {
    expect(await redactAnswer({ value: text })).toEqual({ value: text });
  });

  test('leaves the words around what it takes out', async () => {
    expect(await redactAnswer('Ask jane@example.com or +49 30 901820, order 20241121001 of 2024-11-21.')).toBe(
      'Ask [redacted:email] or [redacted:phone], order 20241121001 of 2024-11-21.',
    );
    expect(await redactAnswer('DE89 3704 0044 0532 0130 00 and more')).toBe('[redacted:iban] and more');
  });

  test('looks into lists, maps, their names, numbers, and facts by their predicate', async () => {
    verifies('gateway.query.redaction');
    const answer = {
      rows: [{ deep: [{ x: ['a jane@example.com b'] }] }, { 'jane@example.com': 1, 'joe@example.com': 2 }],
      card: 4_111_111_111_111_111,
      pieces: ['4111', '1111', '1111', '1111'],
      characters: [...'4111111111111111'],
      homePhone: 5_551_234_567, ssn: 123_456_789, password: 'hunter22',
      facts: [{ subject: 'e1', predicate: 'mobile_number', object: '5551234' }],
      kept: { phone_count: 120_000, password_policy: 'strict-one', at: 1_732_147_200_123, score: 0.5, flag: true, none: null },
    };
    expect(await redactAnswer(answer)).toEqual({
      rows: [{ deep: [{ x: ['a [redacted:email] b'] }] }, { '[redacted:email]': 1, '[redacted:email] 2': 2 }],
      card: '[redacted:card]',
      pieces: Array(4).fill('[redacted:card]'),
      characters: Array(16).fill('[redacted:card]'),
      homePhone: '[redacted:phone]', ssn: '[redacted:national_id]', password: '[redacted:secret]',
      facts: [{ subject: 'e1', predicate: 'mobile_number', object: '[redacted:phone]' }],
      kept: answer.kept,
    });
  });

  test('takes time in proportion to the text, whatever it is', async () => {
    verifies('input.bounded');
    const hostile = ['a', '1', '1-', 'a.', '@', '+1 ', '-----BEGIN RSA PRIVATE KEY-----', 'password=', '://a:', 'eyAAAAAAAAAAAA.', '(', '0 ', 'A1', '12345 ', 'call 12345 '];
    for (const piece of hostile) {
      const begun = process.cpuUsage();
      await redactAnswer({ value: piece.repeat(Math.ceil(100_000 / piece.length)) });
      expect(process.cpuUsage(begun).user / 1000).toBeLessThan(3000);
    }
  });
});
