import { beforeAll, describe, expect, test } from '@jest/globals';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { ownProduct } from '../support/own-product.js';
import type { Api } from '../support/processes.js';
import { verifies } from '../support/verifies.js';
import { connect, connectModern, textOf, useClients } from './clients.js';

const deps = useDeps();
useClients();
const product = ownProduct({ QUOTA_PROJECT_MAX: '3' });

let one: Api;
let other: Api;
beforeAll(async () => {
  [one, other] = await Promise.all([product.api(), product.api()]);
});

const docs = { name: 'docs', arguments: { topic: 'errors' } };

describe('two API processes', () => {
  test('a call above the quota is a tool error that says when to try again, on either', async () => {
    verifies('mcp.tools.refusal');
    const { apiKey } = await createWorkspace(deps);
    const { client } = await connect(apiKey, { url: one.url });
    const modern = await connectModern(apiKey, { url: other.url });
    for (let used = 0; used < 3; used += 1) expect((await client.callTool(docs)).isError).toBeFalsy();
    for (const result of [await client.callTool(docs), await modern.callTool(docs)]) {
      expect(result).toMatchObject({ isError: true });
      const body = textOf(result);
      expect(body).toMatchObject({ error: 'S3:rate-quota', lifecycle_id: expect.any(String), retry_after: expect.any(Number) });
      expect(body.retry_after).toBeGreaterThan(0);
    }
  });

  test('a session of the one is 404 on the other; the client opens another and goes on, also when its process is killed', async () => {
    verifies('mcp.sessions.process-lost');
    const { apiKey } = await createWorkspace(deps);
    let address = one.url;
    const balanced: typeof fetch = (url, init) => fetch((url as URL).href.replace(one.url, address), init);
    const session = () => connect(apiKey, { url: one.url, transport: { fetch: balanced } });
    const first = await session();
    expect((await first.client.callTool(docs)).isError).toBeFalsy();
    address = other.url;
    await expect(first.client.callTool(docs)).rejects.toMatchObject({ code: 404 });
    const second = await session();
    expect((await second.client.callTool(docs)).isError).toBeFalsy();
    await other.end('SIGKILL');
    address = one.url;
    await expect(second.client.callTool(docs)).rejects.toMatchObject({ code: 404 });
    expect((await (await session()).client.callTool(docs)).isError).toBeFalsy();
  });
});
