import { expect, test } from '@jest/globals';
import { reconcile } from '../../../../src/domain/executions/reconcile.js';
import { executionWorkflowId } from '../../../../workflows/agentflow-execution/messages.js';
import type { CallActionRequest } from '../../../../workflows/agentflow-execution/steps/action.js';
import { actOfWorker, requestTo } from '../../../support/act-of-worker.js';
import { ask, decide, useActs, type Governed } from '../../../support/acts.js';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, startExecution, untilExecution } from '../../../support/executions.js';
import { flowThatCalls } from '../../../support/flows.js';
import { verifies } from '../../../support/verifies.js';

const { deps, sink, governed, lifecyclesOf, outcomesOf } = await useActs();
const act = actOfWorker(deps);
const options = { signal: new AbortController().signal, note: () => undefined, onProgress: () => undefined };

/** A run that makes a slow call, and an act of it that a worker performs without telling the run. */
async function unheard(): Promise<Unheard> {
  const of = await governed({ ...ask, when: 'context.input.path like "*/asked"' });
  const release = sink.hold(`${of.prefix}/slow`);
  const id = await startExecution(of.workspace, flowThatCalls([`${sink.url}${of.prefix}/slow`]));
  await eventually(() => expect(of.seen('slow')).toBe(1));
  const request = requestTo(`${sink.url}${of.prefix}/asked`, of.workspace);
  const run = { ...request.run, execution_id: id };
  const perform: Perform = (approval) =>
    act({ ...request, run, idempotency_key: `${id}/agent/skill/call`, ...approval }, options) as never;
  const approvals = async () => (await of.approver.get('/v1/approvals')).body.data;
  return { of, id, perform, approvals, release };
}
interface Unheard {
  of: Governed;
  id: string;
  perform: Perform;
  approvals(): Promise<any[]>;
  /** Answers the slow call, so that the run completes. */
  release(): void;
}
type Perform = (approval?: Pick<CallActionRequest, 'approval'>) => Promise<{ held: { approval_id: string } }>;

async function cancelled({ workspace }: Governed, id: string): Promise<void> {
  await moveExecution(workspace, id, 'cancel');
  await untilExecution(workspace, id, 'failed');
}

const inboxOf = async ({ approver, workspace }: Governed) =>
  (await approver.get(`/inbox?projectID=${workspace.projectID}`)).body.data;

test.each(['before', 'after'])(
  'an approval whose step asked %s its run was cancelled leaves the inbox',
  async (when) => {
    verifies('act.hold.run-over');
    const { of, id, perform, approvals } = await unheard();
    if (when === 'after') await cancelled(of, id);
    await perform();
    if (when === 'before') {
      expect(await inboxOf(of)).toHaveLength(1);
      await cancelled(of, id);
    }
    await eventually(async () => expect(await approvals()).toMatchObject([{ status: 'rejected', votes: [] }]));
    await eventually(async () => expect(await inboxOf(of)).toEqual([]));
    await eventually(async () =>
      expect((await lifecyclesOf(of)).map(({ status }) => status)).not.toContain('pending_approval'),
    );
    expect(await outcomesOf(of)).toContainEqual('denied: the approval was withdrawn');
    expect(of.seen('asked')).toBe(0);
  },
);

test('an approval that its run did not use is ended with the run, and no worker uses it afterwards', async () => {
  verifies('act.hold.run-over');
  const { of, id, perform, approvals } = await unheard();
  const { held } = await perform();
  expect(await decide(of.approver, held.approval_id, 'approve')).toMatchObject({ status: 200 });
  await cancelled(of, id);
  const ended = 'denied: the run ended before it used the approval';
  await eventually(async () => expect(await outcomesOf(of)).toContainEqual(ended));
  const asked = (await lifecyclesOf(of)).find(({ approval_id }) => approval_id === held.approval_id);
  await eventually(async () =>
    expect(await of.approver.get(`/v1/lifecycles/${asked?._id}`)).toMatchObject({ body: { status: 'denied' } }),
  );
  // An attempt of a worker that has not noticed asks again, and what it asks is withdrawn as well.
  await perform({ approval: held });
  await eventually(async () =>
    expect((await approvals()).map(({ status }: any) => status).sort()).toEqual(['approved', 'rejected']),
  );
  expect(of.seen('asked')).toBe(0);
});

test('an approval that is left over when its run completes leaves the inbox', async () => {
  verifies('act.hold.run-over');
  const { of, id, perform, approvals, release } = await unheard();
  await perform();
  expect(await inboxOf(of)).toHaveLength(1);
  release();
  await untilExecution(of.workspace, id, 'completed');
  await eventually(async () => expect(await approvals()).toMatchObject([{ status: 'rejected', votes: [] }]));
  await eventually(async () => expect(await inboxOf(of)).toEqual([]));
});

test('an approval of a run that was terminated is withdrawn, even if the API dies after it has recorded the end', async () => {
  verifies('act.hold.run-over');
  const { id, perform, approvals } = await unheard();
  await perform();
  await deps.temporal.client.workflow.getHandle(executionWorkflowId(id)).terminate('by hand');
  const executionMoved = () => {
    throw new Error('the process died');
  };
  const dying = { ...deps, metrics: { ...deps.metrics, executionMoved } };
  await expect(reconcile(dying, { _id: id })).rejects.toThrow('the process died');
  expect(await deps.mongo.collections.executions.findOne({ _id: id })).toMatchObject({ status: 'failed' });
  await eventually(async () => expect(await approvals()).toMatchObject([{ status: 'rejected', votes: [] }]));
});
