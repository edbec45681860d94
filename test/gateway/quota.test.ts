import { describe, expect, test } from '@jest/globals';
import type { Answer } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { bearerClient, createGatewayWorkspace, stagesOf } from '../support/gateway.js';
import { ownProduct } from '../support/own-product.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
/** Longer than the calls take on a busy machine: none of them may leave the window before the last has come. */
const windowSeconds = 40;
const product = ownProduct({ QUOTA_WINDOW_SECONDS: String(windowSeconds) });
const list = { operation: 'list' };

describe('the request window of a project', () => {
  test('admits exactly 120 of 1,000 calls at once over two API processes, and the next when its time has come', async () => {
    verifies('quota.project-window', 'quota.exact-over-processes', 'quota.sliding', 'quota.refusal', 'quota.refused-uncounted');
    verifies('pipeline.s3-rate-quota', 'errors.header.retry-after', 'errors.status.429', 'env.quota');
    const { apiKey, projectID } = await createGatewayWorkspace(deps);
    const clients = (await Promise.all([product.api(), product.api()])).map((api) => bearerClient(apiKey, api.url));
    const answers: Answer[] = await Promise.all(
      Array.from({ length: 1000 }, (_, at) => clients[at % 2]?.post('/v1/orchestrate', list)).filter((call) => call !== undefined),
    );
    const admitted = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect([admitted.length, refused.length]).toEqual([120, 880]);
    const [first] = refused;
    expect(first?.body).toMatchObject({ error: 'S3:rate-quota', error_description: expect.stringContaining(projectID), lifecycle_id: expect.any(String) });
    const wait = Number(first?.headers.get('retry-after'));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(windowSeconds);
    const [client] = clients;
    if (!client) throw new Error('no client');
    await eventually(async () => expect((await client.post('/v1/orchestrate', list)).status).toBe(200), { everyMs: 500 });
    expect(await stagesOf(client, first?.body.lifecycle_id)).toEqual(['S1:authenticate', 'S2:resolve-scope', 'S3:rate-quota!']);
  });
});
