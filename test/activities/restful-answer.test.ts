import { describe, expect, test } from '@jest/globals';
import { checkOutput } from '../../activities/action-fields.js';
import { readRestfulAnswer } from '../../activities/restful-answer.js';
import type { ActionPlan } from '../../workflows/agentflow-execution/messages.js';

function read(status: number, body: string | Buffer, headers: Record<string, string> = {}): unknown {
  return readRestfulAnswer('Look up', { status, headers: { 'content-type': 'application/json', ...headers }, body: Buffer.from(body) });
}

function failure(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('readRestfulAnswer', () => {
  test.each([
    ['JSON', '[1,{"a":null}]', 'application/json; charset=utf-8', [1, { a: null }]],
    ['JSON of another name', '{"a":1}', 'application/problem+json', { a: 1 }],
    ['text', 'plain', 'text/plain', { text: 'plain' }],
    ['nothing', '', 'application/json', null],
  ])('gives the value of %s', (_, body, type, expected) => expect(read(200, body, { 'content-type': type })).toEqual(expected));

  test.each([
    ['JSON that breaks off', '{"token":"s3cret', 'application/json'],
    ['bytes', Buffer.from([0xff, 0xfe, 0x00]), 'application/octet-stream'],
  ])('refuses %s without quoting it', (_, body, type) => {
    const error = failure(() => read(200, body, { 'content-type': type }));
    expect(error).toMatchObject({ code: 'validation_failed', cause: undefined });
    expect(String(error)).not.toContain('s3cret');
  });

  test.each([300, 301, 302, 304, 307, 400, 401, 403, 404, 409, 422])('refuses for good with %d', (status) => {
    expect(failure(() => read(status, ''))).toMatchObject({ code: 'action_refused', retryable: false, status });
  });

  test.each([408, 425, 429, 500, 502, 503, 504])('may be better later after %d', (status) => {
    expect(failure(() => read(status, ''))).toMatchObject({ code: 'action_unavailable', retryable: true, status, retryAfterMs: undefined });
  });

  test('tells when to ask again from seconds and from a date, within five minutes', () => {
    const after = (header: string) => (failure(() => read(503, '', { 'retry-after': header })) as { retryAfterMs: number }).retryAfterMs;
    expect(after('17')).toBe(17_000);
    expect(after('999999')).toBe(300_000);
    const untilDate = after(new Date(Date.now() + 60_000).toUTCString());
    expect(untilDate).toBeGreaterThan(55_000);
    expect(untilDate).toBeLessThanOrEqual(60_000);
  });
});

describe('checkOutput', () => {
  const fields = [
    { field_id: 'id', label: '', type: 'string', required: true, description: '' },
    { field_id: 'size', label: '', type: 'number', required: false, description: '' },
  ];
  const action: ActionPlan = {
    ...{ _id: 'act', name: 'Look up', category: 'restful', method: 'GET', endpoint: '', is_terminal: true, next_action_id: null },
    input_schema: { fields: [] },
    output_schema: { fields },
  };

  test.each([[{ id: 'a', size: 1 }], [{ id: 'a' }], [{ id: 'a', size: null, more: true }]])('takes %j', (output) => {
    expect(() => checkOutput(action, output)).not.toThrow();
  });

  test.each([
    [{ size: 1 }, 'id'],
    [{ id: 7 }, 'id'],
    [{ id: 'a', size: 'big' }, 'size'],
    [['a'], 'id'],
    [null, 'id'],
  ])('refuses %j and names the field', (output, name) => {
    const expected = { code: 'validation_failed', message: expect.stringContaining(`"${name}"`) };
    expect(failure(() => checkOutput(action, output))).toMatchObject(expected);
  });
});
