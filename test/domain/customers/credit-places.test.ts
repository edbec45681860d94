import { describe, expect, test } from '@jest/globals';
import { createCustomers } from '../../../src/domain/customers/create-customers.js';
import { readCustomer, setPlan } from '../../../src/domain/customers/operations/account.js';
import { newId } from '../../../src/base/ids.js';
import { epochSeconds } from '../../../src/base/time.js';
import { moveExecution, prepareExecution, untilListed } from '../../support/executions.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { seedExecution } from '../../support/seeded-executions.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const { collections } = deps.mongo;
/** Two processes. */
const [one, two] = [createCustomers(collections), createCustomers(collections)];
const run = (id = newId()) => ({ kind: 'execution' as const, id });
const charge = (organization: string, id: string) =>
  one.charge(organization, [
    { key: id, executionId: id, projectId: 'p', agentflowId: 'a', credits: 'base' as const, turns: null },
  ]);

async function organizationWith(credits: number, base = 1): Promise<string> {
  const organization = newId();
  const number_of_credits = { subscription_credits: credits, top_up_credits: 0 };
  await setPlan(collections, organization, { number_of_credits, base_credit_deduction_per_execution: base });
  return organization;
}

/** Ages the places, as if they had been reserved earlier. */
async function age(organization: string, seconds: number): Promise<void> {
  const { places = [] } = (await collections.credit_places.findOne({ _id: organization })) ?? {};
  const older = places.map((place) => ({ ...place, at: epochSeconds() - seconds }));
  await collections.credit_places.updateOne({ _id: organization }, { $set: { places: older } });
}

const admitted = async (work: Promise<unknown>[]) =>
  (await Promise.allSettled(work)).filter(({ status }) => status === 'fulfilled').length;

describe('credits that are reserved', () => {
  test.each([
    [7, 1, 7],
    [7, 2, 3],
    [0.3, 0.1, 3],
    [0.9, 1, 0],
  ])('%s credits at %s for each run admit exactly %s of 40 simultaneous starts of two processes', async (...given) => {
    verifies('customer.credits-reserved');
    const [credits, base, expected] = given;
    const organization = await organizationWith(credits, base);
    const starts = Array.from({ length: 40 }, (_, at) => (at % 2 ? one : two).reserveCredits(organization, run()));
    expect(await admitted(starts)).toBe(expected);
    await expect(one.reserveCredits(organization, run())).rejects.toMatchObject({
      code: 'plan_limit',
      message: expect.stringContaining('number_of_credits'),
    });
  });

  test('are never overdrawn while starts and charges mix', async () => {
    verifies('customer.credits-reserved');
    const organization = await organizationWith(25);
    const startAndCharge = async (at: number) => {
      const { id } = run();
      await (at % 2 ? one : two).reserveCredits(organization, run(id));
      await charge(organization, id);
    };
    const began = await admitted(Array.from({ length: 100 }, (_, at) => startAndCharge(at)));
    expect(began).toBeLessThanOrEqual(25);
    // A charge that is being counted still has its place, so a few starts may be refused too early.
    for (let count = began; count < 25; count += 1) await startAndCharge(count);
    await expect(startAndCharge(0)).rejects.toMatchObject({ code: 'plan_limit' });
    expect((await readCustomer(collections, organization)).credits_used).toBe(25);
  });

  test('are reserved once for each run, and free again after a release', async () => {
    verifies('customer.credits-reserved');
    const organization = await organizationWith(1);
    const use = run();
    for (const each of [one, two, one]) await each.reserveCredits(organization, use);
    await expect(two.reserveCredits(organization, run())).rejects.toMatchObject({ code: 'plan_limit' });
    await one.releaseCredits(organization, use);
    await two.reserveCredits(organization, run());
  });

  test('are free again if a process died before the run began, or the run has ended without a charge', async () => {
    verifies('customer.credits-reserved');
    const workspace = await createWorkspace(deps);
    const { organizationId: organization } = workspace;
    await setPlan(collections, organization, { number_of_credits: { subscription_credits: 3, top_up_credits: 0 } });
    const seeded = async (status: string) => run((await seedExecution(deps, workspace, { status } as object))._id);
    const [lost, ready, ended] = [run(), await seeded('ready'), await seeded('failed')];
    for (const use of [lost, ready, ended]) await one.reserveCredits(organization, use);
    // Only the run that has ended needs no place.
    expect(await admitted([1, 2, 3].map(() => one.reserveCredits(organization, run())))).toBe(1);
    await age(organization, 61);
    const running = [await seeded('running'), await seeded('running'), await seeded('running')];
    expect(await admitted(running.map((use) => one.reserveCredits(organization, use)))).toBe(2);
    await age(organization, 3601);
    expect(await admitted([1, 2].map(() => one.reserveCredits(organization, run())))).toBe(1);
  });

  test('cost a plan without a deduction nothing', async () => {
    const organization = await organizationWith(0, 0);
    expect(await admitted(Array.from({ length: 5 }, () => one.reserveCredits(organization, run())))).toBe(5);
  });
});

test('executions that are started at the same time begin only as far as the credits go', async () => {
  verifies('customer.credits-reserved');
  const workspace = await createWorkspace(deps);
  const flow = flowThatCalls([]);
  const prepared = await Promise.all(Array.from({ length: 9 }, () => prepareExecution(workspace, flow)));
  const number_of_credits = { subscription_credits: 1, top_up_credits: 2 };
  await setPlan(collections, workspace.organizationId, { number_of_credits });
  const answers = await Promise.all(prepared.map(({ _id }) => moveExecution(workspace, _id, 'execute')));
  const began = prepared.filter((_, at) => answers[at]?.status === 200);
  expect(began).toHaveLength(3);
  expect(answers.find(({ status }) => status !== 200)).toMatchObject({ status: 403, body: { error: 'plan_limit' } });
  for (const { _id } of began) await untilListed(workspace, _id, 'completed');
  expect((await readCustomer(collections, workspace.organizationId)).credits_used).toBe(3);
});
