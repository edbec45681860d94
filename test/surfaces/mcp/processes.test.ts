import { beforeAll, describe, expect, test } from '@jest/globals';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { useOwnApp } from '../../support/own-app.js';
import { ownProduct } from '../../support/own-product.js';
import type { Api } from '../../support/processes.js';
import { verifies } from '../../support/verifies.js';
import { connect, connectModern, textOf, useClients } from './clients.js';

const deps = useDeps();
useClients();
const quota = { QUOTA_PROJECT_MAX: '3' };
/** The API in this process, and one in a process of its own. */
const [here, product] = [useOwnApp(quota), ownProduct(quota)];

let one: { url: string };
let other: Api;
beforeAll(async () => {
  one = { url: here.url() };
  other = await product.api();
});

const docs = { name: 'docs', arguments: { topic: 'errors' } };

describe('two API processes', () => {
  test('return a tool error with the retry time for a call above the quota', async () => {
    verifies('mcp.tools.refusal');
    const { apiKey } = await createWorkspace(deps);
    const { client } = await connect(apiKey, { url: one.url });
    const modern = await connectModern(apiKey, { url: other.url });
    for (let used = 0; used < 3; used += 1) expect((await client.callTool(docs)).isError).toBeFalsy();
    for (const result of [await client.callTool(docs), await modern.callTool(docs)]) {
      expect(result).toMatchObject({ isError: true });
      const body = textOf(result);
      expect(body).toMatchObject({
        error: 'S3:rate-quota',
        lifecycle_id: expect.any(String),
        retry_after: expect.any(Number),
      });
      expect(body.retry_after).toBeGreaterThan(0);
    }
  });

  test('answer 404 to a session of the other; the client opens another and continues, also after a kill of its process', async () => {
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
