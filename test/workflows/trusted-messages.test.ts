import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { WorkflowFailedError, WorkflowUpdateFailedError, type WorkflowHandle } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { newId } from '../../src/base/ids.js';
import { packageRoot } from '../../src/base/packages.js';
import { encryptPayload } from '../../src/temporal/payload-codec.js';
import { trustedActivities } from '../../src/temporal/trusted-activities.js';
import { operatorSignals } from '../../workflows/agentflow-execution/messages.js';
import { seal, type Message } from '../../workflows/trust/sealed.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { clientSending, forgeries, plainPayload } from '../support/forged-messages.js';
import { agentPlan, executionPlan } from '../support/plans.js';
import { verifies } from '../support/verifies.js';
import { useWorkflowWorkers } from '../support/workflow-workers.js';

const taskQueue = `trust-${newId()}`;
const deps = useDeps({ TEMPORAL_TASK_QUEUE: taskQueue });
let stopped = () => undefined as void;
const untilStopped = new Promise<void>((resolve) => (stopped = resolve));

/** Every activity lasts until the end of the test, so that the runs stay open. The workers wait for them when they stop. */
afterAll(() => stopped());
useWorkflowWorkers(deps, taskQueue, { publishExecution: () => Promise.resolve(), default: () => untilStopped });

const organization_id = newId();
const project_id = newId();

/** An input of each workflow with signals or updates, with which it stays open; for some also the signal that starts its work. */
const inputs: Record<string, { type: string; input: object; signal?: { name: string; args: unknown[] } }> = {
  'agentflow-execution': {
    type: 'agentflowExecution',
    input: executionPlan([agentPlan('a', null)], { organization_id }),
  },
  approval: {
    type: 'approval',
    input: {
      ...{ organization_id, project_id },
      approval_id: 'a',
      expires_at: Date.now(),
      required_approvers: 1,
      policy_ids: [],
    },
  },
  'catalog-sync': {
    type: 'catalogSync',
    input: { organization_id, project_id, quiet_ms: 3_600_000, longest_wait_ms: 3_600_000, max_history_events: 5000 },
    signal: { name: 'changed', args: [{ run_id: 'r', events: 1, entities: [] }] },
  },
  'connector-events': {
    type: 'connectorEvents',
    input: { connector_id: 'c', max_history_events: 5000 },
    signal: {
      name: 'callback',
      args: [{ callback_id: 'c', event_id: null, kind: 'event', account_id: null, starts: [{ execution_id: 'e' }] }],
    },
  },
  'knowledge-upload': { type: 'knowledgeUpload', input: { organization_id, project_id, file_id: 'f', name: 'n' } },
  remember: { type: 'remember', input: { organization_id, project_id, memory_id: 'm', parts: 1, review: true } },
  'schedule-change': {
    type: 'scheduleChange',
    input: {
      schedule_id: 's',
      resumed: { pending: [{ schedule_id: 's', change_id: 'c', change: { kind: 'delete' } }], outcomes: [] },
    },
  },
};

interface Definition {
  folder: string;
  kind: 'signal' | 'update';
  name: string;
}

/** Every signal and update that a module of a workflow exports. */
async function definitions(): Promise<Definition[]> {
  const root = path.join(packageRoot, 'workflows');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /^[a-z-]+\/.*\.ts$/.test(file) && !file.endsWith('interceptors.ts'),
  );
  const found = files.map(async (file) => {
    const exported = (await import(`../../workflows/${file.slice(0, -3)}.js`)) as Record<string, unknown>;
    return Object.values(exported).flatMap((each) => {
      const { type: kind, name } = (each ?? {}) as { type?: string; name?: string };
      const folder = file.split('/')[0] ?? '';
      return (kind === 'signal' || kind === 'update') && name !== undefined ? [{ folder, kind, name } as const] : [];
    });
  });
  return (await Promise.all(found)).flat();
}
const all = await definitions();

/** An open run of the workflow, with the activities that it has scheduled. */
async function openRun(folder: string) {
  const { type, input, signal } = inputs[folder] ?? { type: folder, input: {} };
  const workflowId = `${folder}/${newId()}`;
  const options = { taskQueue, workflowId, args: [input] };
  const { workflow } = deps.temporal.client;
  const handle: WorkflowHandle = signal
    ? await workflow.signalWithStart(type, { ...options, signal: signal.name, signalArgs: signal.args })
    : await workflow.start(type, options);
  const scheduled = async () =>
    ((await handle.fetchHistory()).events ?? [])
      .flatMap(({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name ?? [])
      // A run writes its record by the clock.
      .filter((name) => name !== 'publishExecution');
  const isWaiting = folder === 'catalog-sync';
  await eventually(async () => {
    const completed = (await handle.fetchHistory()).events?.some((each) => each.workflowTaskCompletedEventAttributes);
    expect(completed).toBe(true);
    if (!isWaiting) expect(await scheduled()).not.toEqual([]);
  });
  return { handle, workflowId, scheduled };
}

const causeOf = (error: unknown) => (error as { cause?: ApplicationFailure } | undefined)?.cause?.type;

describe('a run', () => {
  test('exists here for every workflow that has signals or updates', () => {
    verifies('trust.messages');
    expect([...new Set(all.map(({ folder }) => folder))].sort()).toEqual(Object.keys(inputs).sort());
  });

  test.each(all.filter(({ kind }) => kind === 'update'))(
    'of $folder rejects a forged update $name',
    async ({ folder, name }) => {
      verifies('trust.messages');
      const { handle, workflowId, scheduled } = await openRun(folder);
      const before = await scheduled();
      const updateId = newId();
      const input = { by: 'mallory', decision: 'approve', approver: { user_id: 'mallory', role: 'OWNER' }, input: {} };
      const message: Message = ['update', name, workflowId, updateId];
      const earlier = plainPayload(seal(['update', name, workflowId, newId()], [input])[0]);
      const forged = {
        ...forgeries(deps, { message, organizationId: organization_id, input }),
        'of an earlier update': encryptPayload(deps.auth.box, earlier, organization_id, [workflowId]),
      };
      for (const [what, payload] of Object.entries(forged)) {
        const forger = clientSending(deps, payload).workflow.getHandle(workflowId);
        const error: unknown = await forger
          .executeUpdate(name, { args: [input], updateId })
          .catch((each: unknown) => each);
        expect([what, error instanceof WorkflowUpdateFailedError, causeOf(error)]).toEqual([
          what,
          true,
          'untrusted_input',
        ]);
      }
      expect(await scheduled()).toEqual(before);
      await handle.terminate();
    },
  );

  test.each(all.filter(({ kind, name }) => kind === 'signal' && !operatorSignals.includes(name)))(
    'of $folder ignores a forged signal $name',
    async ({ folder, name }) => {
      verifies('trust.messages');
      const { handle, workflowId, scheduled } = await openRun(folder);
      // A run publishes its state at its own time. Some workflows have no such query.
      const state = async () => {
        const { projected_at, published, unpublished, ...decided } = await handle
          .query<Record<string, unknown>>('state')
          .catch((): Record<string, unknown> => ({}));
        return decided;
      };
      const before = [await scheduled(), await state()];
      const input = { change_id: newId(), callback_id: newId(), run_id: newId(), events: 1, entities: [], starts: [] };
      const message: Message = ['signal', name, workflowId];
      const forged = forgeries(deps, { message, organizationId: organization_id, input });
      for (const payload of Object.values(forged))
        await clientSending(deps, payload).workflow.getHandle(workflowId).signal(name, input);
      // A query is answered after the signals before it.
      await handle.query('__temporal_workflow_metadata');
      expect([await scheduled(), await state()]).toEqual(before);
      expect((await handle.describe()).status.name).toBe('RUNNING');
      await handle.terminate();
    },
  );
});

describe('a result that an activity did not return', () => {
  test('fails the run', async () => {
    verifies('trust.activities');
    const { handle, workflowId } = await openRun('agentflow-execution');
    const { events } = await handle.fetchHistory();
    const scheduled = events?.find((each) => each.activityTaskScheduledEventAttributes);
    const activityId = scheduled?.activityTaskScheduledEventAttributes?.activityId ?? '';
    await deps.temporal.client.workflowService.respondActivityTaskCompletedById({
      namespace: deps.config.temporal.namespace,
      workflowId,
      activityId,
      result: { payloads: [plainPayload({ value: { text: 'approved' }, attempts: 1 })] },
    });
    const error = await handle.result().catch((each: unknown) => each);
    expect([error instanceof WorkflowFailedError, causeOf(error)]).toEqual([true, 'untrusted_input']);
  });
});

describe('an activity', () => {
  /** Runs the interceptor of an activity that returns its arguments. */
  const run = (args: unknown[], info: object = {}) => {
    const of = { activityType: 'callAction', workflowExecution: { workflowId: 'execution/1' }, ...info };
    const { execute } = trustedActivities()({ info: of } as never).inbound ?? {};
    if (!execute) throw new Error('there is no interceptor');
    return execute({ args, headers: {} }, (input) => Promise.resolve(input.args));
  };

  test('runs only with an input that its workflow has sealed for it', async () => {
    verifies('trust.activities');
    expect(await run(seal(['activity', 'callAction', 'execution/1'], [7]))).toEqual([7]);
    const refused = [
      [],
      [7],
      seal(['activity', 'callAction', 'execution/2'], [7]),
      seal(['activity', 'other', 'execution/1'], [7]),
      seal(['signal', 'callAction', 'execution/1'], [7]),
      [...seal(['activity', 'callAction', 'execution/1'], [7]), 8],
    ];
    for (const args of refused)
      await expect(run(args)).rejects.toMatchObject({ type: 'untrusted_input', nonRetryable: true });
    const alone = seal(['activity', 'callAction', ''], [7]);
    await expect(run(alone, { workflowExecution: undefined })).rejects.toMatchObject({ type: 'untrusted_input' });
    const heartbeatDetails = { [Symbol.for('untrusted payload')]: 'not encrypted' };
    const genuine = seal(['activity', 'callAction', 'execution/1'], [7]);
    await expect(run(genuine, { heartbeatDetails })).rejects.toMatchObject({ type: 'untrusted_input' });
  });
});
