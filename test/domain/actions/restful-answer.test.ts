import { describe, expect, test } from '@jest/globals';
import { checkOutput } from '../../../src/domain/actions/action-fields.js';
import { readRestfulAnswer } from '../../../src/domain/actions/restful-answer.js';
import type { ActionPlan } from '../../../workflows/agentflow-execution/messages.js';
import { verifies } from '../../support/verifies.js';

function read(status: number, body: string | Buffer, headers: Record<string, string> = {}): unknown {
  return readRestfulAnswer('Look up', {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(body),
  });
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
  ])('returns the value of %s', (_, body, type, expected) =>
    expect(read(200, body, { 'content-type': type })).toEqual(expected),
  );

  test.each([
    ['JSON that breaks off', '{"token":"s3cret', 'application/json'],
    ['bytes', Buffer.from([0xff, 0xfe, 0x00]), 'application/octet-stream'],
  ])('refuses %s without quoting it', (_, body, type) => {
    const error = failure(() => read(200, body, { 'content-type': type }));
    expect(error).toMatchObject({ code: 'validation_failed', cause: undefined });
    expect(String(error)).not.toContain('s3cret');
  });

  test.each([300, 301, 302, 304, 307, 400, 401, 403, 404, 409, 422])('refuses permanently with %d', (status) => {
    expect(failure(() => read(status, ''))).toMatchObject({ code: 'action_refused', retryable: false, status });
  });

  test.each([408, 425, 429, 500, 502, 503, 504])('can be retried after %d', (status) => {
    expect(failure(() => read(status, ''))).toMatchObject({
      code: 'action_unavailable',
      retryable: true,
      status,
      retryAfterMs: undefined,
    });
  });

  test('reads the retry time from seconds and from a date, up to five minutes', () => {
    const after = (header: string) =>
      (failure(() => read(503, '', { 'retry-after': header })) as { retryAfterMs: number }).retryAfterMs;
    expect(after('17')).toBe(17_000);
    expect(after('999999')).toBe(300_000);
    const untilDate = after(new Date(Date.now() + 60_000).toUTCString());
    expect(untilDate).toBeGreaterThan(55_000);
    expect(untilDate).toBeLessThanOrEqual(60_000);
  });
});

describe('the failure of a refused call', () => {
  const message = (status: number, body: string | Buffer, secrets: string[] = []) =>
    String(failure(() => readRestfulAnswer('Look up', { status, headers: {}, body: Buffer.from(body) }, secrets)));

  test('quotes the beginning of the answer', () => {
    verifies('execution.steps.attempts');
    expect(message(500, '{"error":"database is on fire"}')).toContain('status 500: {"error":"database is on fire"}');
    const long = message(400, `no: ${'very '.repeat(100_000)}`);
    expect(long).toContain('no: very very');
    expect(long.length).toBeLessThan(600);
  });

  test.each([
    ['what was sent', '{"you_sent":"s3cret-of-ours"}', ['s3cret-of-ours']],
    ['what was sent, escaped', '{"you_sent":"s3cret\\u002dof-ours"}', ['s3cret-of-ours']],
    ['what was sent, where the text is cut', `${'x '.repeat(990)}s3cret-of-ours-and-more`, ['s3cret-of-ours-and-more']],
    ['credentials', 'Authorization: Bearer s3cret-s3cret-s3cret-s3cret', []],
    ['personal data', 'unknown user s3cret@example.com', []],
    ['bytes that are not text', Buffer.from([0xff, 0xfe, ...Buffer.from('s3cret')]), []],
  ])('never quotes %s', (_, body, secrets) => {
    verifies('execution.steps.attempts');
    expect(message(500, body, secrets)).not.toContain('s3cret');
  });
});

describe('checkOutput', () => {
  const fields = [
    { field_id: 'id', label: '', type: 'string', required: true, description: '' },
    { field_id: 'size', label: '', type: 'number', required: false, description: '' },
  ];
  const action: ActionPlan = {
    ...{
      _id: 'act',
      name: 'Look up',
      category: 'restful',
      method: 'GET',
      endpoint: '',
      is_terminal: true,
      next_action_id: null,
    },
    input_schema: { fields: [] },
    output_schema: { fields },
  };

  test.each([[{ id: 'a', size: 1 }], [{ id: 'a' }], [{ id: 'a', size: null, more: true }]])('accepts %j', (output) => {
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
