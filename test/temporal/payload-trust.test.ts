import { expect, test } from '@jest/globals';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
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

const deps = useDeps();
const own = useDeps(ownDatabase());

test('an installation knows the keys of all its processes, also of two that start together', async () => {
  verifies('trust.keys');
  const one = createPayloadTrust({ mongo: own.mongo, keyIds: ['one'] });
  await Promise.all([one.begin(), one.begin()]);
  await createPayloadTrust({ mongo: own.mongo, keyIds: ['two'] }).begin();
  expect(await Promise.all(['one', 'two', 'three'].map(one.isOwnKey))).toEqual([true, true, false]);
});

test('a schedule whose input was replaced in Temporal starts nothing until it is applied again', async () => {
  verifies('trust.schedules');
  const workspace = await createWorkspace(deps);
  const { _id } = await scheduled(workspace, {
    coworker_id: await coworker(workspace),
    type: 'interval',
    frequency: 86_400,
  });
  const handle = deps.temporal.client.schedule.getHandle(scheduleId(_id));
  const inputOf = async () => (await handle.describe()).action.args?.[0];
  const plain: Payload = defaultPayloadConverter.toPayload({ schedule_id: _id });
  await clientSending(deps, plain)
    .schedule.getHandle(scheduleId(_id))
    .update(({ action, spec, policies, state }) => ({ action, spec, policies, state }));
  await eventually(async () => expect(isSealed(await inputOf())).toBe(false));
  await handle.trigger();
  await eventually(async () => {
    const [started] = (await handle.describe()).info.recentActions;
    if (started?.action.type !== 'startWorkflow') throw new Error('the schedule has not run');
    const { workflowId, firstExecutionRunId } = started.action.workflow;
    const run = deps.temporal.client.workflow.getHandle(workflowId, firstExecutionRunId);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'untrusted_input' } });
  });
  await applySchedule(deps, _id);
  expect(isSealed(await inputOf())).toBe(true);
  await handle.trigger();
  await eventually(async () => expect(fired(await runsOf(workspace, _id))).toHaveLength(1));
});
