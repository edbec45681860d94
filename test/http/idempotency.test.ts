import { describe, expect, test } from '@jest/globals';
import { AppError } from '../../src/base/errors.js';
import { createIdempotency } from '../../src/governance/idempotency.js';
import { newId } from '../../src/base/ids.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { principalOf } from '../support/governance/approvals.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { idempotency } = deps.mongo.collections;

describe('Idempotency-Key', () => {
  test('of a slow first request is kept if a repeat overtakes it and is refused: nothing is created twice', async () => {
    verifies('store.idempotency.slow-first');
    const { once } = createIdempotency(deps.mongo.collections, deps.auth.box);
    const request = { key: newId(), route: 'POST /thing', principal: principalOf(), body: {} };
    const made: string[] = [];
    let finish: () => void = () => undefined;
    const began = new Promise<string>((resolve) => {
      void once(request, async (recordId) => {
        resolve(recordId);
        await new Promise<void>((done) => (finish = done));
        made.push(recordId);
        return { value: recordId };
      });
    });
    const first = await began;
    // Simulates a first request that has been running for longer than its lease.
    await idempotency.updateOne({ record_id: first }, { $set: { leased_until: new Date(0) } });
    const refused = new AppError('conflict', 'the first request holds what this one needs');
    await expect(once(request, () => Promise.reject(refused))).rejects.toBe(refused);
    const third = await once(request, async (recordId) => ({ value: recordId }));
    expect(third).toEqual({ value: first });
    finish();
  });

  test('of a request that takes longer than its lease does not run it a second time', async () => {
    verifies('idempotency.lease-renewed');
    const { once } = createIdempotency(deps.mongo.collections, deps.auth.box);
    const request = { key: newId(), route: 'POST /thing', principal: principalOf(), body: {} };
    const ran: string[] = [];
    let finish: () => void = () => undefined;
    let begun: (recordId: string) => void = () => undefined;
    const began = new Promise<string>((resolve) => (begun = resolve));
    const work = async (recordId: string) => {
      ran.push(recordId);
      begun(recordId);
      await new Promise<void>((done) => (finish = done));
      return { value: recordId };
    };
    const first = once(request, work);
    const record_id = await began;
    const leased = (await idempotency.findOne({ record_id }))?.leased_until.getTime() ?? 0;
    await eventually(async () => {
      expect(Date.now()).toBeGreaterThan(leased);
      expect((await idempotency.findOne({ record_id }))?.leased_until.getTime()).toBeGreaterThan(Date.now());
    });
    const second = once(request, work);
    finish();
    expect(await Promise.all([first, second])).toEqual([{ value: record_id }, { value: record_id }]);
    expect(ran).toEqual([record_id]);
  });

  test('of a refused request can be used again with another body', async () => {
    verifies('store.idempotency.slow-first');
    const { once } = createIdempotency(deps.mongo.collections, deps.auth.box);
    const request = { key: newId(), route: 'POST /thing', principal: principalOf(), body: { name: '' } };
    const refused = new AppError('validation_failed', 'name');
    await expect(once(request, () => Promise.reject(refused))).rejects.toBe(refused);
    expect(await once({ ...request, body: { name: 'a' } }, async () => ({ value: 'made' }))).toEqual({ value: 'made' });
  });

  test('is refused to another credential of the person, and to a token of the same client with other scopes', async () => {
    const { once } = createIdempotency(deps.mongo.collections, deps.auth.box);
    const person = principalOf();
    const client = { ...person, clientId: 'client', grants: ['svc:query.read', 'svc:agent.run'] as const };
    const request = { key: newId(), route: 'POST /thing', principal: client, body: {} };
    const work = async () => ({ value: newId() });
    const first = await once(request, work);
    const renewed = { ...client, grantId: newId(), grants: [...client.grants].reverse() };
    expect(await once({ ...request, principal: renewed }, work)).toEqual(first);
    for (const principal of [
      person,
      { ...client, clientId: 'another' },
      { ...client, grants: ['svc:query.read'] as const },
      { ...person, kind: 'api_key' as const, keyId: newId() },
    ])
      await expect(once({ ...request, principal }, work)).rejects.toMatchObject({
        code: 'conflict',
        message: 'this Idempotency-Key was used with another credential',
      });
  });
});
