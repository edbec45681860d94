import { describe, expect, test } from '@jest/globals';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { newId } from '../../src/ids.js';
import { createPayloadTrust } from '../../src/temporal/payload-trust.js';
import { applySchedule } from '../../src/domain/schedules/temporal.js';
import { scheduleId } from '../../workflows/coworker-run/messages.js';
import { isSealed } from '../../workflows/trust/sealed.js';
import { eventually } from '../support/eventually.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { ownDatabase } from '../support/run.js';
import { clientSending } from '../support/forged-messages.js';
import { coworker, fired, runsOf, scheduled } from '../surfaces/platform/schedules/schedules.js';
import { verifies } from '../support/verifies.js';

const shared = useDeps();
const fresh = useDeps(ownDatabase());
const upgraded = useDeps(ownDatabase());

describe('what an installation accepts from an earlier release', () => {
  test('is nothing if it is new', async () => {
    verifies('trust.upgrade');
    const trust = createPayloadTrust({ mongo: fresh.mongo, keyIds: ['one'] });
    await Promise.all([trust.begin(), trust.begin()]);
    await fresh.mongo.collections.organizations.insertOne({ _id: newId(), name: 'later' } as never);
    expect((await createPayloadTrust({ mongo: fresh.mongo, keyIds: ['two'] }).begin()).accept_unbound_until).toBe(0);
    expect(await trust.acceptUnboundUntil()).toBe(0);
    expect([await trust.isOwnKey('one'), await trust.isOwnKey('two'), await trust.isOwnKey('three')]).toEqual([
      true,
      true,
      false,
    ]);
    await trust.untilSchedulesAreSealed(() => Promise.reject(new Error('there are none')));
  });

  test('is everything for an hour if it is older, and does not begin again', async () => {
    verifies('trust.upgrade');
    await upgraded.mongo.collections.organizations.insertOne({ _id: newId(), name: 'earlier' } as never);
    const before = Date.now() / 1000;
    const begin = async () =>
      (await createPayloadTrust({ mongo: upgraded.mongo, keyIds: [] }).begin()).accept_unbound_until;
    const until = await begin();
    expect(until - before).toBeGreaterThanOrEqual(3600);
    expect(until).toBeLessThanOrEqual(Date.now() / 1000 + 3600);
    expect(await begin()).toBe(until);
    let passes = 0;
    const trust = createPayloadTrust({ mongo: upgraded.mongo, keyIds: [] });
    for (let at = 0; at < 2; at += 1) await trust.untilSchedulesAreSealed(() => Promise.resolve(void (passes += 1)));
    expect(passes).toBe(1);
  });
});

describe('a schedule of an earlier release', () => {
  test('gets an input that its runs accept', async () => {
    verifies('trust.schedules');
    const workspace = await createWorkspace(shared);
    const { _id } = await scheduled(workspace, {
      coworker_id: await coworker(workspace),
      type: 'interval',
      frequency: 86_400,
    });
    const handle = shared.temporal.client.schedule.getHandle(scheduleId(_id));
    const inputOf = async () => (await handle.describe()).action.args?.[0];
    const plain: Payload = defaultPayloadConverter.toPayload({ schedule_id: _id });
    await clientSending(shared, plain)
      .schedule.getHandle(scheduleId(_id))
      .update(({ action, spec, policies, state }) => ({ action, spec, policies, state }));
    await eventually(async () => expect(isSealed(await inputOf())).toBe(false));
    await handle.trigger();
    await eventually(async () => {
      const [started] = (await handle.describe()).info.recentActions;
      if (started?.action.type !== 'startWorkflow') throw new Error('the schedule has not run');
      const { workflowId, firstExecutionRunId } = started.action.workflow;
      const run = shared.temporal.client.workflow.getHandle(workflowId, firstExecutionRunId);
      await expect(run.result()).rejects.toMatchObject({ cause: { type: 'untrusted_input' } });
    });
    await applySchedule(shared, _id);
    expect(isSealed(await inputOf())).toBe(true);
    await handle.trigger();
    await eventually(async () => expect(fired(await runsOf(workspace, _id))).toHaveLength(1));
  });
});
