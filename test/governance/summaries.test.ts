import { expect, test } from '@jest/globals';
import { summaryOf } from '../../src/governance/approvals/summary.js';
import { tellingFacts } from '../../src/domain/actions/telling-facts.js';
import { verifies } from '../support/verifies.js';

const digest = '9f86d081884c7d65';

test('a summary names ids, amount with currency, recipients and account, or follows the template of the action', () => {
  verifies('approval.summary');
  const fields = { note: 'thanks', to: 'ada@example.com', currency: 'EUR', amount: 120, order: 88201 };
  expect(summaryOf({ title: 'Pay refund', fields }, digest)).toBe(
    'Pay refund: order 88201, amount 120 EUR, to ada@example.com, note thanks',
  );
  const template = 'Pay refund, order {{ order }}, {{ amount }} {{ currency }}, to {{ to }}';
  expect(summaryOf({ title: 'x', template, fields }, digest)).toBe(
    'Pay refund, order 88201, 120 EUR, to ada@example.com',
  );
});

test('a value cannot look like another part of a summary, and a shortened summary names its call', () => {
  verifies('approval.summary');
  const of = (to: string, template?: string) => summaryOf({ title: 'Pay', template, fields: { to } }, digest);
  for (const template of [undefined, 'Pay {{ to | raw }}'])
    for (const [value, shown] of [
      ['a, amount 1 EUR', '“a, amount 1 EUR”'],
      ['a” , amount “1', "“a' , amount '1”"],
      ['a\n\u202Eb', '“a <U+202E>b”'],
    ] as const)
      expect(of(value, template)).toBe(template ? `Pay ${shown}` : `Pay: to ${shown}`);
  expect(of('x'.repeat(500))).toContain('(shortened, call 9f86d081884c)');
  expect(of('x'.repeat(500)).length).toBeLessThan(400);
});

test('facts about recipients and amounts are exact, and have no value where they cannot be computed', () => {
  verifies('act.telling-facts');
  const fields = [
    { field_id: 'payee', mark: 'recipient' as const },
    { field_id: 'sum', mark: 'amount' as const },
    { field_id: 'unit', mark: 'currency' as const },
  ];
  const of = (input: Record<string, unknown>, recipients?: string[]) => tellingFacts(fields, input, recipients);
  expect(of({ payee: 'Ada <a@X.Example>, b@xn--bcher-kva.example', sum: 120.1, unit: 'eur' }, ['c@z.example'])).toEqual(
    { recipient_domains: ['bücher.example', 'x.example', 'z.example'], amount: '120.1', currency: 'EUR' },
  );
  for (const payee of ['nobody', 'a@b@c', 'a@', 'Ada <a@x.example> b@y.example', 5])
    expect(of({ payee })).toMatchObject({ recipient_domains: undefined });
  for (const sum of ['1e3', '1,000', 1e21, 0.00001, Number.MAX_SAFE_INTEGER, '', null])
    expect(of({ sum })).toMatchObject({ amount: undefined });
  expect(tellingFacts([], { sum: 1 }, undefined)).toEqual({
    recipient_domains: undefined,
    amount: undefined,
    currency: undefined,
  });
});
