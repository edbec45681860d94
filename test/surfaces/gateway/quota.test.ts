import { describe, expect, test } from '@jest/globals';
import type { Answer } from '../../support/client.js';
import { eventually } from '../../support/eventually.js';
import { useDeps } from '../../support/fixture.js';
import { bearerClient, createGatewayWorkspace, stagesOf } from '../../support/gateway.js';
import { useOwnApp } from '../../support/own-app.js';
import { ownProduct } from '../../support/own-product.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
/** Longer than the calls take on a busy machine, so that no call leaves the window before the last one arrives. */
const windowSeconds = 40;
const window = { QUOTA_WINDOW_SECONDS: String(windowSeconds) };
/** The API in this process, and another API in its own process. */
const [here, product] = [useOwnApp(window), ownProduct(window)];
const list = { operation: 'list' };

describe('the request window of a project', () => {
  test('admits exactly 120 of 1,000 calls by 200 callers across two API processes, and the next at its time', async () => {
    verifies(
      'quota.project-window',
      'quota.exact-over-processes',
      'quota.sliding',
      'quota.refusal',
      'quota.refused-uncounted',
    );
    verifies('pipeline.s3-rate-quota', 'errors.header.retry-after', 'errors.status.429', 'env.quota');
    const { apiKey, projectID } = await createGatewayWorkspace(deps);
    const clients = [here.url(), (await product.api()).url].map((url) => bearerClient(apiKey, url));
    const answers: Answer[] = [];
    const caller = async (at: number) => {
      const client = clients[at % 2];
      for (let call = 0; call < 5; call += 1) if (client) answers.push(await client.post('/v1/orchestrate', list));
    };
    await Promise.all(Array.from({ length: 200 }, (_, at) => caller(at)));
    const refused = answers.filter(({ status }) => status === 429);
    const others = answers.filter(({ status }) => status !== 200 && status !== 429);
    expect(others.map(({ status, body }) => [status, body])).toEqual([]);
    expect([answers.length - refused.length, refused.length]).toEqual([120, 880]);
    const [first] = refused;
    expect(first?.body).toMatchObject({
      error: 'S3:rate-quota',
      error_description: expect.stringContaining(projectID),
      lifecycle_id: expect.any(String),
    });
    expect(Number(first?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const [client] = clients;
    if (!client) throw new Error('no client');
    const waits: { sent: number; answered: number; seconds: number }[] = [];
    const admittedBy = await eventually(
      async () => {
        const sent = Date.now() / 1000;
        const { status, headers } = await client.post('/v1/orchestrate', list);
        const answered = Date.now() / 1000;
        if (status === 429) waits.push({ sent, answered, seconds: Number(headers.get('retry-after')) });
        expect(status).toBe(200);
        return answered;
      },
      { everyMs: 500 },
    );
    // The window became free after the last refusal was sent and before the admission was answered.
    const fullUntil = waits.at(-1)?.sent ?? 0;
    for (const { sent, answered, seconds } of waits) {
      expect(seconds).toBeGreaterThanOrEqual(fullUntil - answered);
      expect(seconds).toBeLessThan(admittedBy - sent + 1);
    }
    expect(new Set(waits.map(({ seconds }) => seconds)).size).toBeGreaterThan(5);
    expect(await stagesOf(client, first?.body.lifecycle_id)).toEqual([
      'S1:authenticate',
      'S2:resolve-scope',
      'S3:rate-quota!',
    ]);
  });
});
