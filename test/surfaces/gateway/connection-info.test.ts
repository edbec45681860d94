import { describe, expect, test } from '@jest/globals';
import { apiClient } from '../../support/client.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';

describe('GET /v1/connection-info', () => {
  test('shows anonymous callers where and how to connect, without secrets', async () => {
    verifies('gateway.connection-info', 'resource.connection-info');
    const { status, body } = await apiClient(testRun().url).get('/v1/connection-info');
    expect(status).toBe(200);
    expect(body).toEqual({
      mcpServerUrl: expect.stringMatching(/^http.*\/mcp$/),
      mcpSseUrl: expect.stringMatching(/^http.*\/sse$/),
      apiBaseUrl: expect.stringMatching(/^http/),
      workspaceHeader: 'X-Service-Workspace',
      sdk: {
        python: { package: expect.any(String), install: expect.stringMatching(/^pip install /) },
        node: { package: expect.any(String), install: expect.stringMatching(/^npm install /) },
      },
    });
    expect(JSON.stringify(body)).not.toMatch(/svc_sk_|password|secret/i);
  });
});
