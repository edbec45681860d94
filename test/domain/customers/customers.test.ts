import { collections as definitions } from '../../../src/collections.js';
import { describe, expect, test } from '@jest/globals';
import { createExecutionRecordActivities } from '../../../activities/execution-records.js';
import { readCustomer, setPlan } from '../../../src/domain/customers/operations/account.js';
import { creditsLeft, type Charge, type Customers } from '../../../src/domain/customers/record.js';
import { createCustomers } from '../../../src/domain/customers/create-customers.js';
import { newId } from '../../../src/base/ids.js';
import type { ExecutionDocument } from '../../../src/domain/executions/record.js';
import { createMongo } from '../../../src/stores/mongo.js';
import { activityEnvironment } from '../../support/activity-environment.js';
import { noExchanges } from '../../support/exchanges.js';
import { useDeps } from '../../support/fixture.js';
import { testRun } from '../../support/run.js';
import { projectionOf } from '../../support/projections.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const { collections } = deps.mongo;
const customers = createCustomers(collections);
const outcomes = async (work: Promise<unknown>[]) => (await Promise.allSettled(work)).map(({ status }) => status);
const fulfilled = (list: string[]) => list.filter((status) => status === 'fulfilled').length;

const chargeOf = (change: Partial<Charge> = {}): Charge => {
  const executionId = newId();
  return { key: executionId, projectId: 'p', executionId, agentflowId: 'a', credits: 1, turns: null, ...change };
};

/** The write commands of another process during `work`. */
async function writesOf(work: (one: Customers) => Promise<unknown>): Promise<string[]> {
  const mongo = createMongo({ collections: definitions, uri: testRun().env.MONGODB_URI ?? '', monitorCommands: true });
  const writes: string[] = [];
  mongo.db.client.on('commandStarted', ({ commandName }) => {
    if (/^(insert|update|delete|findAndModify)$/.test(commandName)) writes.push(commandName);
  });
  await work(createCustomers(mongo.collections)).finally(() => mongo.close());
  return writes;
}

/** The collection with a `method` whose first call waits until `work` is done. */
function onceBefore<T extends object>(collection: T, method: keyof T, work: () => Promise<void>): T {
  let isFirst = true;
  return new Proxy(collection, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const call = (value as (...given: unknown[]) => unknown).bind(target);
      if (name !== method || !isFirst) return call;
      isFirst = false;
      return async (...given: unknown[]) => {
        await work();
        return call(...given);
      };
    },
  });
}

describe('places of a counted limit', () => {
  test('admit exactly the maximum of concurrent calls, and a returned place is free again', async () => {
    const organization = newId();
    await setPlan(collections, organization, { number_of_tables: 7 });
    const ids = Array.from({ length: 30 }, newId);
    expect(fulfilled(await outcomes(ids.map((id) => customers.reserve(organization, 'number_of_tables', id))))).toBe(7);
    await expect(customers.reserve(organization, 'number_of_tables', newId())).rejects.toMatchObject({
      code: 'plan_limit',
      message: 'number_of_tables: the plan allows 7, 7 are in use',
    });
    const places = await collections.customer_places.findOne({ _id: `${organization}/number_of_tables` });
    await customers.release(organization, 'number_of_tables', places?.ids[0]?.id ?? '');
    await customers.reserve(organization, 'number_of_tables', newId());
  });

  test('are taken once for each record, regardless of repeats', async () => {
    const organization = newId();
    await setPlan(collections, organization, { number_of_tables: 2 });
    const id = newId();
    expect(
      fulfilled(
        await outcomes(Array.from({ length: 10 }, () => customers.reserve(organization, 'number_of_tables', id))),
      ),
    ).toBe(10);
    await customers.reserve(organization, 'number_of_tables', newId());
    await expect(customers.reserve(organization, 'number_of_tables', newId())).rejects.toMatchObject({
      code: 'plan_limit',
    });
  });

  test('are freed if the record was never created, and kept if it exists', async () => {
    const organization = newId();
    await setPlan(collections, organization, { number_of_workspaces: 2 });
    const [living, lost] = [newId(), newId()];
    await collections.projects.insertOne({
      ...{
        _id: living,
        name: newId(),
        description: '',
        organization_id: organization,
        department_id: 'd',
        user_id: 'u',
      },
      ...{ status: 'active', created_at: 1, updated_at: 1 },
    });
    await customers.reserve(organization, 'number_of_workspaces', lost);
    await expect(customers.reserve(organization, 'number_of_workspaces', newId())).rejects.toMatchObject({
      code: 'plan_limit',
    });
    // Older than any request.
    await collections.customer_places.updateOne(
      { _id: `${organization}/number_of_workspaces`, 'ids.id': lost },
      { $set: { 'ids.$.at': 1 } },
    );
    await customers.reserve(organization, 'number_of_workspaces', newId());
    await expect(customers.reserve(organization, 'number_of_workspaces', newId())).rejects.toMatchObject({
      code: 'plan_limit',
    });
  });
});

describe('storage', () => {
  test('is never exceeded by concurrent uploads, and is freed when files are deleted', async () => {
    const organization = newId();
    await setPlan(collections, organization, { storage_space_in_mb: 10 });
    const ids = Array.from({ length: 12 }, newId);
    const processes = [customers, createCustomers(collections)];
    const results = await outcomes(
      ids.flatMap((id, at) => processes[at % 2]?.reserveStorage(organization, id, 2 * 1024 * 1024) ?? []),
    );
    expect(fulfilled(results)).toBe(5);
    expect(await customers.storageUsed(organization)).toBe(10 * 1024 * 1024);
    await Promise.all(ids.map((id) => customers.releaseStorage(organization, id)));
    expect(await customers.storageUsed(organization)).toBe(0);
    await customers.reserveStorage(organization, newId(), 10 * 1024 * 1024);
    await expect(customers.reserveStorage(organization, newId(), 1)).rejects.toMatchObject({ code: 'plan_limit' });
  });

  test('is changed by one process per file at a time, so an upload of many files does not block itself', async () => {
    const organization = newId();
    const writes = await writesOf((one) =>
      Promise.all(Array.from({ length: 40 }, () => one.reserveStorage(organization, newId(), 1))),
    );
    // The account and the total are created. Then each change is noted, written and removed from the notes.
    expect(writes.filter((name) => name === 'update')).toHaveLength(3 * 40);
    expect(await customers.storageUsed(organization)).toBe(40);
  });

  test('replaces the old size of a file with the new one', async () => {
    const organization = newId();
    await setPlan(collections, organization, { storage_space_in_mb: 10 });
    const id = newId();
    for (const mebibytes of [9, 10, 1, 10]) await customers.reserveStorage(organization, id, mebibytes * 1024 * 1024);
    await expect(customers.reserveStorage(organization, id, 11 * 1024 * 1024)).rejects.toMatchObject({
      code: 'plan_limit',
    });
    expect(await customers.storageUsed(organization)).toBe(10 * 1024 * 1024);
  });

  test('completes the interrupted change of a process, and ignores its late write', async () => {
    const organization = newId();
    await setPlan(collections, organization, { storage_space_in_mb: 1 });
    const [lost, other] = [newId(), newId()];
    await customers.reserveStorage(organization, lost, 1000);
    // The process died after it had counted another 5000 bytes and before it wrote the file's record.
    const { revision = 0 } = (await collections.storage_totals.findOne({ _id: organization })) ?? {};
    const change = { id: lost, bytes: 6000, revision: revision + 1, at: 1 };
    await collections.storage_totals.updateOne(
      { _id: organization },
      { $inc: { bytes: 5000, revision: 1 }, $push: { changes: change } },
    );
    await customers.reserveStorage(organization, other, 1);
    expect(await collections.stored_bytes.findOne({ _id: lost })).toMatchObject({ bytes: 6000 });
    expect(await customers.storageUsed(organization)).toBe(6001);
    await Promise.all([customers.releaseStorage(organization, lost), customers.releaseStorage(organization, lost)]);
    expect(await customers.storageUsed(organization)).toBe(1);
    expect(await collections.storage_totals.findOne({ _id: organization })).toMatchObject({ changes: [] });
  });
});

describe('credits', () => {
  test('are deducted once for a key, by concurrent or later repeats, and after a crash between ledger and account', async () => {
    verifies('customer.credits-once');
    const organization = newId();
    const charge = chargeOf({ credits: 3 });
    const inOneGroup = () => Array.from({ length: 3 }, () => [charge]);
    const processes = Array.from({ length: 10 }, () => createCustomers(collections));
    await Promise.all(processes.flatMap((one) => inOneGroup().map((charges) => one.charge(organization, charges))));
    await customers.charge(organization, [charge]);
    expect((await readCustomer(collections, organization)).credits_used).toBe(3);
    // The process died after the ledger: the entry exists but is not counted.
    const lost = chargeOf({ credits: 5 });
    await customers.charge(organization, [lost]);
    await collections.credit_history.updateOne({ _id: lost.key }, { $set: { applied: false } });
    await customers.charge(organization, [lost]);
    expect((await readCustomer(collections, organization)).credits_used).toBe(8);
    expect(await collections.credit_history.countDocuments({ organization_id: organization, applied: true })).toBe(2);
  });

  test('are counted from the ledger when the account is settled, and once under concurrent charges', async () => {
    const organization = newId();
    await readCustomer(collections, organization);
    const charge = chargeOf({ credits: 2 });
    await collections.credit_history.insertOne({
      ...{
        _id: charge.key,
        organization_id: organization,
        project_id: 'p',
        execution_id: charge.executionId,
        agentflow_id: 'a',
      },
      ...{ kind: 'execution', credits: 2, model: null, input_tokens: 0, output_tokens: 0, at: 1, applied: false },
    });
    await Promise.all([
      customers.settle(organization),
      customers.charge(organization, [charge]),
      customers.settle(organization),
    ]);
    expect((await readCustomer(collections, organization)).credits_used).toBe(2);
  });

  test('stay exact beyond the keys that the account remembers', async () => {
    const organization = newId();
    const charges = Array.from({ length: 260 }, () => chargeOf());
    for (let at = 0; at < charges.length; at += 20)
      await Promise.all(charges.slice(at, at + 20).map((each) => customers.charge(organization, [each])));
    await Promise.all(charges.slice(0, 40).map((each) => customers.charge(organization, [each])));
    expect((await readCustomer(collections, organization)).credits_used).toBe(260);
    expect((await collections.customers.findOne({ _id: organization }))?.charged.length).toBeLessThan(202);
    expect(await collections.credit_history.countDocuments({ organization_id: organization, applied: true })).toBe(260);
  });

  test('of calls that arrive during a write share three writes', async () => {
    const organization = newId();
    await readCustomer(collections, organization);
    const charges = Array.from({ length: 12 }, () => chargeOf({ credits: 2 }));
    const writes = await writesOf((one) => Promise.all(charges.map((each) => one.charge(organization, [each]))));
    expect(writes).toEqual(['insert', 'update', 'update']);
    expect((await readCustomer(collections, organization)).credits_used).toBe(24);
  });

  test('of one call take three writes and count only new charges', async () => {
    const organization = newId();
    const [first, ...rest] = Array.from({ length: 12 }, (_, at) =>
      chargeOf({ credits: at, turns: { model: `m${at % 2}`, input_tokens: 1, output_tokens: 2 } }),
    );
    await customers.charge(organization, [first as Charge]);
    const writes = await writesOf((one) => one.charge(organization, rest));
    expect(writes).toEqual(['insert', 'update', 'update']);
    await Promise.all(Array.from({ length: 5 }, () => customers.charge(organization, [...rest, first as Charge])));
    const sums = { executions: 6, input_tokens: 6, output_tokens: 12 };
    expect(await readCustomer(collections, organization)).toMatchObject({
      credits_used: 66,
      models: { m0: sums, m1: sums },
    });
    expect(await collections.credit_history.countDocuments({ organization_id: organization, applied: true })).toBe(12);
  });

  test('are deducted once by a process that stalls before counting, even if another has counted and the account has dropped the key', async () => {
    verifies('customer.credits-once');
    const organization = newId();
    const charge = chargeOf({ credits: 7 });
    const others = Array.from({ length: 300 }, () => chargeOf({ credits: 0 }));
    const stalled = onceBefore(collections.customers, 'updateOne', async () => {
      await customers.charge(organization, [charge]);
      for (let at = 0; at < others.length; at += 50) await customers.charge(organization, others.slice(at, at + 50));
    });
    await createCustomers({ ...collections, customers: stalled }).charge(organization, [charge]);
    const account = await collections.customers.findOne({ _id: organization });
    expect(account).toMatchObject({ credits_used: 7 });
    expect(account?.charged).not.toContain(charge.key);
  });

  test('are charged once if the record of an execution is written again', async () => {
    verifies('customer.credits-once');
    const [organization, execution_id] = [newId(), newId()];
    const owner = { organization_id: organization, projectID: 'p', agentflow_id: 'a' };
    await collections.executions.insertOne({
      _id: execution_id,
      ...owner,
      last_event_seq: 0,
    } as unknown as ExecutionDocument);
    const { publishExecution } = createExecutionRecordActivities({
      mongo: deps.mongo,
      customers,
      metrics: deps.metrics,
      temporal: deps.temporal,
      audit: deps.governance.audit,
      exchanges: noExchanges,
    });
    const output = {
      agent_id: 'x',
      title: 'X',
      model: 'm',
      output: '',
      actions: [],
      usage: { input_tokens: 3, output_tokens: 2 },
      started_at: 1,
      ended_at: 2,
    };
    const projection = projectionOf(execution_id, {
      organization_id: organization,
      agents_output: [{ index: 0, value: output }],
    });
    const publish = () => activityEnvironment().run(publishExecution, projection);
    await Promise.all([publish(), publish()]);
    await publish();
    expect(await readCustomer(collections, organization)).toMatchObject({
      credits_used: 1,
      models: { m: { executions: 1, input_tokens: 3, output_tokens: 2 } },
    });
    expect(await collections.credit_history.countDocuments({ organization_id: organization })).toBe(2);
  });

  test('set by an operator apply from then on, including the initial credits of the subscription', async () => {
    const organization = newId();
    await setPlan(collections, organization, { number_of_credits: { subscription_credits: 2, top_up_credits: 5 } });
    const left = async () => creditsLeft(await readCustomer(collections, organization));
    for (const credits of [1.1, 1.2, 0.7]) await customers.charge(organization, [chargeOf({ credits })]);
    expect(await left()).toEqual({ subscription_credits: 0, top_up_credits: 4 });
    await setPlan(collections, organization, { number_of_credits: { subscription_credits: 10 } });
    expect(await left()).toEqual({ subscription_credits: 10, top_up_credits: 4 });
    await customers.charge(organization, [chargeOf({ credits: 11 })]);
    expect(await left()).toEqual({ subscription_credits: 0, top_up_credits: 3 });
  });

  test('that are used up refuse another execution, but completed work is still charged', async () => {
    const organization = newId();
    await setPlan(collections, organization, { number_of_credits: { subscription_credits: 1, top_up_credits: 1 } });
    await customers.charge(organization, [chargeOf()]);
    await customers.requireCredits(organization);
    await customers.charge(organization, [chargeOf()]);
    await expect(customers.requireCredits(organization)).rejects.toMatchObject({
      code: 'plan_limit',
      message: expect.stringContaining('number_of_credits'),
    });
    await customers.charge(organization, [chargeOf()]);
    expect((await readCustomer(collections, organization)).credits_used).toBe(3);
  });

  test('count turns and tokens by model, for any model name', async () => {
    const organization = newId();
    const turns = { model: 'gpt-4.1$mini', input_tokens: 10, output_tokens: 4 };
    await customers.charge(organization, [chargeOf({ credits: 0, turns }), chargeOf({ credits: 0, turns })]);
    expect(Object.values((await readCustomer(collections, organization)).models)).toEqual([
      { executions: 2, input_tokens: 20, output_tokens: 8 },
    ]);
  });
});
