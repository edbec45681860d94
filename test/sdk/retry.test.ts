import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { verifies } from '../support/verifies.js';
import { refusalOf, startFakeService, type FakeService } from './fake-service.js';
import { pythonTests } from './python.js';
import { pythonTest } from '../support/python-test.js';

interface FaultCase {
  status: number;
  body: string | unknown[] | { error?: string };
}
interface WaitCase {
  header: string | null;
  random: number[];
  seconds: number[];
}
interface Cases {
  answers: Record<'repeated' | 'given_to_the_caller' | 'never_repeated', FaultCase[]>;
  now: number;
  waits: Record<'retry_after' | 'full_jitter', WaitCase[]>;
}

/** The Python client's own tests read the same file. */
const { answers, now, waits } = JSON.parse(readFileSync('sdk/retry-cases.json', 'utf8')) as Cases;
let service: FakeService;
beforeAll(async () => {
  service = await startFakeService();
});
afterAll(() => service.close());

const errorIn = (body: FaultCase['body']) => (typeof body === 'object' && 'error' in body ? body.error : '');

describe('the Node client', () => {
  test.each(answers.repeated)('sends the same call again after $status $body', async ({ status, body }) => {
    verifies('sdk.retry.which');
    service.answer({ status, body }, { status: 200, body: { topic: 'errors' } });
    expect(await service.client().gateway.docs('errors')).toMatchObject({ topic: 'errors' });
    const [first, second] = service.asked;
    expect(service.asked).toHaveLength(2);
    expect(second).toMatchObject({ method: first?.method, path: first?.path, body: first?.body });
  });

  test.each(answers.given_to_the_caller)('returns $status $body to the caller', async ({ status, body }) => {
    verifies('sdk.retry.which');
    service.answer({ status, body, headers: { location: `${service.url}/elsewhere` } });
    expect(await refusalOf(service.client().gateway.docs())).toMatchObject({
      name: 'ServiceError',
      status,
      error: errorIn(body),
    });
    expect([service.asked.length, service.waits]).toEqual([1, []]);
  });

  test.each(answers.never_repeated)('never repeats after $status $body', async ({ status, body }) => {
    verifies('sdk.retry.never');
    service.answer({ status, body, headers: { 'retry-after': '1' } });
    const { gateway, platform } = service.client();
    for (const call of [() => gateway.docs(), () => platform.agentflows.list()]) {
      expect(await refusalOf(call())).toMatchObject({ name: 'ServiceError', status, error: errorIn(body) });
    }
    expect([service.asked.length, service.waits]).toEqual([2, []]);
  });

  test.each(waits.retry_after)('waits at least Retry-After $header and at most a second longer', async (waitCase) => {
    verifies('sdk.retry.after');
    await expectWaits(waitCase);
  });

  test.each(waits.full_jitter)(
    'with Retry-After $header draws $seconds from a range that doubles up to 60 seconds',
    async (waitCase) => {
      verifies('sdk.retry.full-jitter');
      await expectWaits(waitCase);
    },
  );

  test('draws its wait uniformly by default', async () => {
    verifies('sdk.retry.full-jitter');
    service.answer({ status: 500 });
    for (let round = 0; round < 40; round += 1) await refusalOf(service.client({ random: undefined }).gateway.docs());
    const shares = service.waits.map((wait, at) => wait / 2 ** ((at % 4) + 1));
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...shares)).toBeLessThan(1);
    const quarters = [0, 1, 2, 3].map((quarter) => shares.filter((share) => Math.floor(share * 4) === quarter).length);
    // Each quarter of the 160 draws has 40 on average. Fewer than 15 would deviate by more than four standard deviations.
    expect(Math.min(...quarters)).toBeGreaterThan(15);
  });

  test('waits in real time by default, and stops when the caller aborts', async () => {
    service.answer({ status: 429, headers: { 'retry-after': '60' } });
    const abort = new AbortController();
    const call = refusalOf(service.client({ sleep: undefined }).gateway.docs('errors', { signal: abort.signal }));
    await eventually(async () => expect(service.asked).toHaveLength(1));
    abort.abort();
    expect(await call).toMatchObject({ name: 'AbortError' });
    expect(service.asked).toHaveLength(1);
  });

  test('stops after five attempts, or the number that the client or the call sets', async () => {
    const [five, three] = [service.client(), service.client({ maxAttempts: 3 })];
    for (const [client, options, attempts] of [
      [five, {}, 5],
      [three, {}, 3],
      [three, { maxAttempts: 1 }, 1],
    ] as const) {
      service.answer({ status: 500 });
      await refusalOf(client.gateway.docs('errors', options));
      expect(service.asked).toHaveLength(attempts);
    }
  });

  test('repeats a call without idempotency only after 429', async () => {
    const { gateway } = service.client();
    for (const call of [
      () => gateway.runAgent({ agentflow_id: 'flow', goal: 'goal' }),
      () => gateway.saveSkill({ name: 'skill' }),
      () => service.client().call('post', '/v1/apikeys', { body: { project_id: 'p1', name: 'key' } }),
    ]) {
      service.answer({ status: 429 }, { status: 502, body: { error: 'harness_unreachable' } });
      expect(await refusalOf(call())).toMatchObject({ status: 502 });
      expect(service.asked).toHaveLength(2);
    }
  });

  async function expectWaits({ header, random, seconds }: WaitCase): Promise<void> {
    service.answer({ status: 429, headers: header === null ? {} : { 'retry-after': header } });
    const drawn = random.values();
    const client = service.client({
      random: () => drawn.next().value ?? NaN,
      now: () => now * 1000,
      maxAttempts: random.length + 1,
    });
    await refusalOf(client.gateway.docs());
    expect(service.waits).toEqual(seconds.map((each) => expect.closeTo(each, 9)));
    expect(service.asked).toHaveLength(random.length + 1);
  }
});

describe('the Python client', () => {
  pythonTest('repeats after 429 and an unlabelled 5xx, and gives every other refusal to the caller', async () => {
    verifies('sdk.retry.which');
    await pythonTests('tests.test_retry.Which');
  });

  pythonTest('never repeats what is unconfigured or unavailable', async () => {
    verifies('sdk.retry.never');
    await pythonTests('tests.test_retry.Never');
  });

  pythonTest('waits no less than Retry-After, and up to a second more', async () => {
    verifies('sdk.retry.after');
    await pythonTests('tests.test_retry.After');
  });

  pythonTest('draws its waits from a range that doubles up to 60 seconds', async () => {
    verifies('sdk.retry.full-jitter');
    await pythonTests('tests.test_retry.FullJitter');
  });
});
