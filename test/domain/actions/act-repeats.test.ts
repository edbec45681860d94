import { expect, test } from '@jest/globals';
import { MongoNetworkError } from 'mongodb';
import { newId } from '../../../src/ids.js';
import type { CallActionRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import { actOfWorker, requestTo } from '../../support/act-of-worker.js';
import { createWorkspace, personOf, useDeps } from '../../support/fixture.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();
const { signal } = new AbortController();
const policies = [
  { policy_id: 'permit', effect: 'permit' },
  { policy_id: 'ask', effect: 'require_approval', tools: ['act.http'] },
];

/** The store fails once to keep the answer of an act: for example, it elects another primary. */
function losesAnAnswer() {
  const { act_answers } = deps.mongo.collections;
  let isLost = false;
  const once = new Proxy(act_answers, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (isLost || !/insert|update/i.test(String(name))) return value.apply(target, args);
        isLost = true;
        return Promise.reject(new MongoNetworkError('the connection closed'));
      };
    },
  });
  return { ...deps, mongo: { ...deps.mongo, collections: { ...deps.mongo.collections, act_answers: once } } };
}

async function held(worker = deps) {
  const workspace = await createWorkspace(deps);
  const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN' });
  expect(await approver.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
  const act = actOfWorker(worker);
  const request = requestTo(`${sink.url}/${workspace.projectID}`, workspace);
  const attempt = (approval?: string) => {
    const under: Partial<CallActionRequest> = approval === undefined ? {} : { approval: { approval_id: approval } };
    return act({ ...request, ...under }, { signal });
  };
  const first = await attempt();
  if (!('held' in first)) throw new Error('the act was not held');
  const { approval_id } = first.held;
  const decide = async (decision: string) =>
    expect(await approver.post(`/v1/approvals/${approval_id}/${decision}`, {})).toMatchObject({ status: 200 });
  const { approvals, lifecycles } = deps.mongo.collections;
  const stored = () => approvals.find({ project_id: workspace.projectID }).toArray();
  const waiting = () => lifecycles.countDocuments({ project_id: workspace.projectID, status: 'pending_approval' });
  return { attempt, decide, stored, waiting, approval_id, seen: () => sink.seen(`/${workspace.projectID}`).length };
}

test('an act that is repeated after its worker was lost is asked about once, and its approved call is made once', async () => {
  verifies('act.hold.asked-once');
  const { attempt, decide, stored, waiting, approval_id, seen } = await held();
  expect(await attempt()).toMatchObject({ held: { approval_id } });
  await decide('approve');
  // The worker was lost before the run knew that it waits.
  expect(await attempt()).toMatchObject({ held: { approval_id } });
  expect(seen()).toBe(0);
  const made = await attempt(approval_id);
  expect(made).toMatchObject({ output: { ok: true } });
  // The worker was lost after the call, and before it had settled the approval.
  await deps.mongo.collections.approvals.updateOne({ _id: approval_id }, { $set: { status: 'approved' } });
  expect(await attempt(approval_id)).toEqual(made);
  expect(seen()).toBe(1);
  expect(await stored()).toMatchObject([{ _id: approval_id, status: 'used' }]);
  expect(await waiting()).toBe(0);
});

test('an act that is repeated after its rejection is not asked about again', async () => {
  verifies('act.hold.asked-once');
  const { attempt, decide, stored, waiting, approval_id, seen } = await held();
  await decide('reject');
  expect(await attempt()).toMatchObject({ held: { approval_id } });
  expect(await attempt(approval_id)).toMatchObject({ refused: { code: 'approval_rejected' } });
  expect(seen()).toBe(0);
  expect(await stored()).toMatchObject([{ _id: approval_id, status: 'rejected' }]);
  expect(await waiting()).toBe(0);
});

test('an act that was answered is not sent again without a person after its answer could not be kept', async () => {
  verifies('act.hold.asked-once');
  const { attempt, decide, stored, approval_id, seen } = await held(losesAnAnswer());
  await decide('approve');
  const lost = await attempt(approval_id).catch((error: unknown) => error);
  const next = lost instanceof Error ? await attempt(approval_id) : lost;
  expect(seen()).toBe(1);
  expect(next).toMatchObject({ held: { after_unknown: true } });
  expect(await stored()).toMatchObject([{ _id: approval_id, status: 'used' }, { status: 'pending' }]);
});

test('an act whose approval was given, but could not be used in time, is asked about again', async () => {
  verifies('act.hold.asked-once');
  const { attempt, decide, stored, approval_id, seen } = await held();
  await decide('approve');
  // No worker was there for longer than the approval holds.
  await deps.mongo.collections.resume_tokens.updateOne({ approval_id }, { $set: { expires_at: 1 } });
  const again = await attempt(approval_id);
  expect(again).toMatchObject({ held: { approval_id: expect.not.stringMatching(approval_id) } });
  expect(seen()).toBe(0);
  expect(await stored()).toMatchObject([{ _id: approval_id, status: 'approved' }, { status: 'pending' }]);
});
