import { expect, test } from '@jest/globals';
import { parseCallbackJson } from '../../../src/surfaces/callbacks/parse-body.js';
import { readPayload } from '../../../src/surfaces/callbacks/downstream/payload.js';
import { verifies } from '../../support/verifies.js';
import { sha256Hex } from '../../../src/base/hash.js';

const raw = { maxBytes: 25 * 1024 * 1024, idFields: [] };
const read = (text: string) =>
  readPayload({ ...raw, contentType: 'application/x-www-form-urlencoded', body: Buffer.from(text) });

test.each([
  ['10,001 fields', 'a=1&'.repeat(10_000)],
  ['over 2 MiB', `a=${'%25'.repeat(700_000)}`],
])('a form with %s remains text', (_name, text) => {
  verifies('operations.event-loop');
  const { payload, stored } = read(text);
  expect(payload.encoding).toBe('text');
  expect(stored ? JSON.parse(Buffer.from(stored).toString()) : payload.value).toBe(text);
});

test('a form with 10,000 values of one name is parsed', () => {
  expect(read('a=1&'.repeat(9_999) + 'a=2').payload).toEqual({
    encoding: 'form',
    value: { a: [...Array<string>(9_999).fill('1'), '2'] },
  });
});

test('a payload that is too large for a signal is passed as JSON', () => {
  const value = { event: 'done', event_id: 7, text: 'ä'.repeat(200_000) };
  const body = Buffer.from(JSON.stringify(value));
  const { stored, ...rest } = readPayload({ ...raw, contentType: undefined, body });
  expect(rest).toEqual({
    digest: sha256Hex(body),
    isOneOfAKind: true,
    ids: [],
    payload: { encoding: 'json', value: null },
    event: 'done',
    event_id: '7',
    account_id: null,
  });
  expect(JSON.parse(Buffer.from(stored ?? []).toString())).toEqual(value);
});

test.each([
  ['an event id', '{"event_id":"a"}', true],
  ['a date and a time', '{"data":[{"at":"2026-11-28T10:00:00Z"}]}', true],
  ['a date and a time in a form', 'at=2026-11-28+10%3A00%3A00', true],
  ['a date as in mails', '{"at":"Sat, 28 Nov 2026 10:00:00 +0000"}', true],
  ['seconds', '{"at":1795860000}', true],
  ['milliseconds', 'at=1795860000123', true],
  ['only a date', '{"day":"2026-11-28"}', false],
  ['a phone number', '{"from":"+15551234567"}', false],
  ['the id of a subscription', '{"webhook_id":"7fa3ec74"}', false],
  ['the same text each time', '{"alert":"CPU"}', false],
  ['nothing', '', false],
])('a body with %s %s', (_what, text, isOneOfAKind) => {
  verifies('callbacks.world');
  expect(read(text).isOneOfAKind).toBe(isOneOfAKind);
});

test('ids of 64 bits keep their digits', () => {
  verifies('json.exact-numbers');
  const body = Buffer.from('{"event_id":8202522731445525542,"data":{"ids":[9007199254740993,5]}}');
  const { payload, event_id } = readPayload({ ...raw, contentType: 'application/json', body });
  expect(event_id).toBe('8202522731445525542');
  expect(payload.value).toEqual({ event_id: '8202522731445525542', data: { ids: ['9007199254740993', 5] } });
  expect(parseCallbackJson(body)).toEqual(payload.value);
});
