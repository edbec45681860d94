import { expect, test } from '@jest/globals';
import { parseJson } from '../../../src/surfaces/callbacks/parse-body.js';
import { readPayload } from '../../../src/surfaces/callbacks/downstream/payload.js';
import { verifies } from '../../support/verifies.js';
import { sha256Hex } from '../../../src/sha256.js';

const read = (text: string) =>
  readPayload({ contentType: 'application/x-www-form-urlencoded', body: Buffer.from(text) });

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
  const { stored, ...rest } = readPayload({ contentType: undefined, body });
  expect(rest).toEqual({
    digest: sha256Hex(body),
    payload: { encoding: 'json', value: null },
    event: 'done',
    event_id: '7',
    account_id: null,
  });
  expect(JSON.parse(Buffer.from(stored ?? []).toString())).toEqual(value);
});

test('ids of 64 bits keep their digits', () => {
  verifies('json.exact-numbers');
  const body = Buffer.from('{"event_id":8202522731445525542,"data":{"ids":[9007199254740993,5]}}');
  const { payload, event_id } = readPayload({ contentType: 'application/json', body });
  expect(event_id).toBe('8202522731445525542');
  expect(payload.value).toEqual({ event_id: '8202522731445525542', data: { ids: ['9007199254740993', 5] } });
  expect(parseJson(body)).toEqual(payload.value);
});
