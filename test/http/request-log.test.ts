import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createGatewayWorkspace } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { testRun } from '../support/run.js';

const deps = useDeps();

describe('the log of requests', () => {
  test('does not contain keys, queries or pins', async () => {
    const { apiKey, gateway, api } = await createGatewayWorkspace(deps);
    await gateway.post('/v1/orchestrate?hidden=query-of-the-caller', { operation: 'list' });
    const marked = { 'x-request-id': 'the-request-with-a-pin' };
    await api.post('/actions/mail/notify/some-connector/the-pin-of-it', {}, marked);
    const log = await eventually(() => {
      const text = readFileSync(path.join(testRun().logs, 'api.log'), 'utf8');
      expect(text).toContain(marked['x-request-id']);
      return text;
    });
    for (const secret of [apiKey, 'query-of-the-caller', 'the-pin-of-it']) expect(log).not.toContain(secret);
    expect(log).toContain('/actions/mail/notify/some-connector/[pin]');
  });
});
