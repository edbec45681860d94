import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import type { ApiClient } from '../../../support/client.js';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, runOf, startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import { refusal } from '../../../support/refusal.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();

const form = {
  type: 'object',
  properties: { accept: { type: 'boolean' }, amount: { type: 'number', maximum: 100 } },
  required: ['accept'],
  additionalProperties: false,
};
const asking = (change: object = {}) => ({
  name: 'Asking',
  initialAgent: 'offer',
  steps: [
    { _id: 'offer', type: 'ask', title: 'Offer', question: 'Is {{ price }} fine?', form, next: 'end', ...change },
    { _id: 'end', type: 'set', values: { answer: 'outputs.offer' } },
    { _id: 'late', type: 'set', values: { late: 'true' } },
  ],
});
const input = { input_variables: { price: 12 } };
const colleague = (workspace: Workspace, role: string, userId = newId()) => personOf(deps, workspace, { role, userId });

async function questionsOf(api: ApiClient): Promise<any[]> {
  const { body } = await api.get('/inbox');
  return body.data.filter(({ kind }: { kind: string }) => kind === 'question');
}

/** The only question that this person sees. */
const untilAsked = (api: ApiClient) =>
  eventually(async () => {
    const [item, ...others] = await questionsOf(api);
    expect(item).toMatchObject({ status: 'waiting' });
    expect(others).toEqual([]);
    return item;
  });
const answer = (api: ApiClient, { _id }: { _id: string }, values: object, headers = {}) =>
  api.post(`/inbox/${encodeURIComponent(_id)}/reply`, { decision: 'accept', values }, headers);

async function asked(change: object = {}) {
  const workspace = await createWorkspace(deps);
  const person = await personOf(deps, workspace);
  const id = await startExecution(workspace, asking(change), input);
  return { workspace, person, id, item: await untilAsked(person) };
}

describe('an ask step', () => {
  test('shows its question and form in the inbox, and has the answer as its output', async () => {
    verifies('flow.ask');
    const { workspace, person, id, item } = await asked();
    expect(item).toMatchObject({
      title: 'Asking: Offer',
      body: { step_id: 'offer', message: 'Is 12 fine?', schema: form, to: null },
      execution_id: id,
      may_decide: true,
    });
    const running = await untilExecution(workspace, id, 'running');
    expect(running.execution_context.waiting_for).toMatchObject({ kind: 'question', step_id: 'offer' });
    const listed = await workspace.api.get(`/${workspace.projectID}/execution_flows?waiting_for=question`);
    expect(listed.body.data).toHaveLength(1);
    expect(await answer(person, item, { accept: true })).toMatchObject({ status: 200, body: { status: 'approved' } });
    const run = await untilExecution(workspace, id, 'completed');
    expect(run.conclusion.output).toEqual({ answer: { accept: true } });
    expect(await questionsOf(person)).toEqual([]);
    expect((await person.get(`/execute_flow/${id}/monitoring`)).body.steps[0]).toMatchObject({
      kind: 'ask',
      status: 'completed',
      output: { accept: true },
    });
    const events = await deps.mongo.collections.execution_events.find({ execution_id: id }).sort({ seq: 1 }).toArray();
    expect(events.map(({ type }) => type).filter((type) => type.startsWith('question'))).toEqual([
      'question_asked',
      'question_settled',
    ]);
  });

  test('refuses answers that do not match the form, and takes one answer only', async () => {
    verifies('flow.ask.who');
    const { workspace, person, id, item } = await asked();
    const refused = [
      [{}, 'values.accept: is required'],
      [{ accept: 'yes' }, 'values.accept: must be true or false'],
      [{ accept: true, amount: 101 }, 'values.amount: must be <= 100'],
      [{ accept: true, other: 1 }, 'values.other: is not a field of the schema'],
    ] as const;
    for (const [values, problem] of refused)
      expect(await answer(person, item, values)).toMatchObject(refusal(422, 'validation_failed', problem));
    const path = `/inbox/${encodeURIComponent(item._id)}/reply`;
    expect(await person.post(path, { decision: 'reject' })).toMatchObject(refusal(422, 'validation_failed', 'accept'));
    const key = { 'idempotency-key': newId() };
    const answers = await Promise.all([
      answer(person, item, { accept: true }, key),
      answer(person, item, { accept: true }, key),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await answer(person, item, { accept: false })).toMatchObject({ status: 409 });
    const run = await untilExecution(workspace, id, 'completed');
    expect(run.conclusion.output).toEqual({ answer: { accept: true } });
  });

  test('that two people answer at the same time takes one of the answers', async () => {
    verifies('flow.ask.who');
    const { workspace, person, id, item } = await asked();
    const other = await colleague(workspace, 'APPROVER');
    const answers = await Promise.all([
      answer(person, item, { accept: true, amount: 1 }),
      answer(other, item, { accept: true, amount: 2 }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const amount = answers[0].status === 200 ? 1 : 2;
    expect((await untilExecution(workspace, id, 'completed')).conclusion.output.answer.amount).toBe(amount);
  });

  test('is answered only by people with a role that decides', async () => {
    verifies('flow.ask.who');
    const { workspace, item } = await asked();
    expect(await answer(workspace.api, item, { accept: true })).toMatchObject({ status: 403 });
    for (const role of ['VIEWER', 'EDITOR'])
      expect(await answer(await colleague(workspace, role), item, { accept: true })).toMatchObject({ status: 403 });
    const [seen] = await questionsOf(await colleague(workspace, 'VIEWER'));
    expect(seen).toMatchObject({ may_decide: false, may_not_decide_reason: expect.stringContaining('deciding needs') });
    const stranger = await personOf(deps, await createWorkspace(deps));
    expect(await answer(stranger, item, { accept: true })).toMatchObject({ status: 404 });
  });

  test('is answered only by those to whom it is addressed', async () => {
    verifies('flow.ask.who');
    const named = newId();
    const { workspace, person, id, item } = await asked({ to: { roles: ['EDITOR'], people: [named] } });
    expect(item).toMatchObject({
      may_decide: false,
      may_not_decide_reason: 'only a person to whom it is addressed answers a question',
    });
    expect(await answer(person, item, { accept: true })).toMatchObject({ status: 403 });
    const [member, other] = await Promise.all([colleague(workspace, 'MEMBER', named), colleague(workspace, 'MEMBER')]);
    expect(await questionsOf(other)).toEqual([]);
    expect(await answer(other, item, { accept: true })).toMatchObject({ status: 404 });
    expect(await untilAsked(member)).toMatchObject({ may_decide: true });
    expect(await untilAsked(await colleague(workspace, 'EDITOR'))).toMatchObject({ may_decide: true });
    expect(await answer(member, item, { accept: true })).toMatchObject({ status: 200 });
    await untilExecution(workspace, id, 'completed');
  });

  test.each([
    ['continues at on_timeout', { on_timeout: 'late' }, 'completed'],
    ['fails', {}, 'failed'],
  ])('%s if nobody answers in time', async (_what, change, status) => {
    verifies('flow.ask');
    const workspace = await createWorkspace(deps);
    const id = await startExecution(workspace, asking({ deadline_seconds: 1, ...change }), input);
    const run = await untilExecution(workspace, id, status);
    if (status === 'completed') expect(run.conclusion.output).toEqual({ late: true });
    else
      expect(run.execution_context.failure).toMatchObject({
        code: 'timeout',
        message: 'nobody answered "Offer" in time',
        step_id: 'offer',
      });
    expect(await questionsOf(await personOf(deps, workspace))).toEqual([]);
  });

  test('does not expire during a pause, and can be answered then', async () => {
    verifies('flow.ask');
    const { workspace, person, id, item } = await asked({ deadline_seconds: 20 });
    expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
    await eventually(async () => expect((await questionsOf(person))[0]).toMatchObject({ expires_at: null }));
    expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
    await eventually(async () => {
      const [seen] = await questionsOf(person);
      expect(seen.expires_at).toBeGreaterThan(item.expires_at);
    });
    expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
    expect(await answer(person, item, { accept: true })).toMatchObject({ status: 200 });
    expect(await untilExecution(workspace, id, 'paused')).toMatchObject({ agents_output: [] });
    expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
    expect((await untilExecution(workspace, id, 'completed')).conclusion.output.answer).toEqual({ accept: true });
  });

  test.each(['cancel', 'terminate'])('leaves the inbox after a %s of its run', async (end) => {
    verifies('flow.ask');
    const { workspace, person, id, item } = await asked();
    if (end === 'cancel') expect(await moveExecution(workspace, id, 'cancel')).toMatchObject({ status: 200 });
    else await runOf(deps, id).terminate();
    await untilExecution(workspace, id, 'failed');
    await eventually(async () => expect(await questionsOf(person)).toEqual([]));
    expect(await answer(person, item, { accept: true })).toMatchObject({ status: 409 });
  });

  test('holds its own path alone, and leaves the inbox when its branch is no longer needed', async () => {
    verifies('flow.ask', 'flow.control');
    const workspace = await createWorkspace(deps);
    const person = await personOf(deps, workspace);
    const id = await startExecution(
      workspace,
      {
        name: 'Race',
        initialAgent: 'race',
        steps: [
          {
            ...{ _id: 'race', type: 'parallel', join: 'any' },
            branches: [
              { name: 'ask', first: 'offer' },
              { name: 'event', first: 'wait' },
            ],
          },
          { _id: 'offer', type: 'ask', form },
          { _id: 'wait', type: 'wait', event: { name: 'done' } },
        ],
      },
      {},
    );
    await untilAsked(person);
    expect(await workspace.api.post(`/execute_flow/${id}/events`, { name: 'done' })).toMatchObject({ status: 200 });
    await untilExecution(workspace, id, 'completed');
    expect(await questionsOf(person)).toEqual([]);
  });

  test('is refused with a form that is none, without people, and with an unknown step after its time', async () => {
    verifies('flow.checks', 'flow.typed.schemas');
    const { api } = await createWorkspace(deps);
    const refused: [object, string][] = [
      [{ form: { type: 'string' } }, 'steps.offer.form.type: must be "object"'],
      [{ form: { type: 'object', properties: { a: { type: 'x' } } } }, 'steps.offer.form.properties.a.type'],
      [{ to: {} }, 'steps.offer.to: requires roles or people'],
      [{ on_timeout: 'nowhere' }, 'steps.offer.on_timeout'],
      [{ question: '{{ price' }, 'steps.offer.question: is not a valid Liquid template'],
    ];
    for (const [change, problem] of refused)
      expect(await api.post('/agentflow', asking(change))).toMatchObject(refusal(422, 'validation_failed', problem));
  });
});
