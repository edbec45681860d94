import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { ask, decide, heldApproval, useActs, type Governed } from '../../../support/acts.js';
import { type ApiClient } from '../../../support/client.js';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, prepareExecution, untilExecution } from '../../../support/executions.js';
import { personOf } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { bearerClient } from '../../../support/gateway.js';
import { testRun } from '../../../support/run.js';
import { verifies } from '../../../support/verifies.js';
import { coworker, scheduled, soon } from '../schedules/schedules.js';

const { deps, sink, governed } = await useActs();

const url = ({ prefix }: Governed) => `${sink.url}${prefix}/one`;

/** What a person does so that a run of another person acts. Returns the execution. */
type Cause = (of: Governed, person: ApiClient) => Promise<string>;

const flow = (of: Governed) => flowThatCalls([url(of)]);
const done = async (answer: Promise<{ status: number }>) => expect(await answer).toMatchObject({ status: 200 });

async function runDraft({ workspace }: Governed, agentflow_id: string): Promise<string> {
  const body = { agentflow_id, goal: 'the sink', draft: true };
  const { body: made } = await workspace.api.post(`/execute_flow?projectID=${workspace.projectID}`, body);
  await done(moveExecution(workspace, made.execution_id, 'execute'));
  return made.execution_id;
}

async function runPromoted({ workspace }: Governed, agentflow_id: string): Promise<string> {
  const run = { agentflow_id, goal: 'the sink' };
  const started = await bearerClient(workspace.apiKey).post('/v1/run-agent', run);
  expect(started).toMatchObject({ status: 200 });
  return started.body.execution_id;
}

async function startedBy({ workspace }: Governed, agentflow_id: string): Promise<string> {
  return eventually(async () => {
    const found = await deps.mongo.collections.executions.findOne({ projectID: workspace.projectID, agentflow_id });
    expect(found).not.toBeNull();
    return found?._id ?? '';
  });
}

const later = { type: 'once', schedule: soon(1000) };

const causes: Record<string, Cause> = {
  'edits the agentflow': async (of, person) => {
    const id = await coworker(of.workspace, [url(of)]);
    await done(person.patch(`/agentflow/${id}`, { description: 'Changed' }));
    // Later edits by others do not replace this one.
    await done(of.workspace.api.patch(`/agentflow/${id}`, { description: 'Changed again' }));
    return runDraft(of, id);
  },
  'edited the version that runs': async (of, person) => {
    const id = await coworker(of.workspace, [url(of)]);
    await done(person.post(`/agentflow/${id}/agent/agent_1`, { role: 'changed' }));
    await done(of.workspace.api.post(`/agentflow/${id}/promote`, {}));
    return runPromoted(of, id);
  },
  'promotes the version that runs': async (of, person) => {
    const id = await coworker(of.workspace, [url(of)]);
    await done(person.post(`/agentflow/${id}/promote`, {}));
    return runPromoted(of, id);
  },
  'executes what another person prepared': async (of, person) => {
    const { execution_id } = await prepareExecution(of.workspace, flow(of));
    await done(person.post(`/execute_flow/${execution_id}/execute`, {}));
    return execution_id;
  },
  'prepared the run that another person reruns': async (of, person) => {
    const { execution_id } = await prepareExecution({ ...of.workspace, api: person }, flow(of));
    await done(person.post(`/execute_flow/${execution_id}/cancel`, {}));
    await untilExecution(of.workspace, execution_id, 'failed');
    const { body } = await of.workspace.api.post(`/execute_flow/${execution_id}/rerun`, {});
    await done(moveExecution(of.workspace, body.execution_id, 'execute'));
    return body.execution_id;
  },
};

const ofSchedules: Record<string, Cause> = {
  'triggers a schedule': async (of, person) => {
    const coworker_id = await coworker(of.workspace, [url(of)]);
    const { _id } = await scheduled(of.workspace, { coworker_id, ...later });
    await done(person.post(`/schedule/coworker/${_id}/trigger`, {}));
    return startedBy(of, coworker_id);
  },
  'has a schedule run a past time': async (of, person) => {
    const coworker_id = await coworker(of.workspace, [url(of)]);
    const hourly = { type: 'interval', frequency: 3600, schedule: soon(-1800 - 3600) };
    const { _id, schedule } = await scheduled(of.workspace, { coworker_id, ...hourly });
    const at = schedule + 3600;
    const { body } = await person.post(`/schedule/coworker/${_id}/backfill`, { from: at - 1, to: at + 1 });
    expect(body).toMatchObject({ planned: [at] });
    return startedBy(of, coworker_id);
  },
  'changes a schedule before it fires': async (of, person) => {
    const coworker_id = await coworker(of.workspace, [url(of)]);
    const { _id } = await scheduled(of.workspace, { coworker_id, ...later });
    await done(person.patch(`/schedule/coworker/${_id}`, { goal: 'theirs', schedule: soon(2) }));
    return startedBy(of, coworker_id);
  },
  'resumes a schedule': async (of, person) => {
    const coworker_id = await coworker(of.workspace, [url(of)]);
    const { _id } = await scheduled(of.workspace, { coworker_id, ...later });
    const path = `/schedule/coworker/${_id}`;
    await done(of.workspace.api.patch(path, { status: 'paused' }));
    await done(person.patch(path, { status: 'active' }));
    await done(of.workspace.api.post(`${path}/trigger`, {}));
    return startedBy(of, coworker_id);
  },
};

async function callbacksOf({ workspace: { api, projectID } }: Governed, config: object) {
  const base = { name: 'Register', config: { base_url: 'http://127.0.0.1:9' } };
  const { body } = await api.post(`/actions/restful/config?projectID=${projectID}`, { ...base, ...config });
  const [path, hook] = [`/connectors/${projectID}/${body._id}`, `/account-provider-webhook/${projectID}/${body._id}`];
  const send = async (secret?: string) => {
    const event = JSON.stringify({ event: 'changed' });
    const signature = createHmac('sha256', secret ?? '')
      .update(event)
      .digest('hex');
    const headers = {
      'content-type': 'application/json',
      ...(secret !== undefined && { 'x-hub-signature-256': `sha256=${signature}` }),
    };
    expect((await fetch(testRun().url + hook, { method: 'POST', headers, body: event })).status).toBe(200);
  };
  return { path, send };
}

const ofTriggers: Record<string, Cause> = {
  'changes the triggers of a connector': async (of, person) => {
    const agentflow_id = await coworker(of.workspace, [url(of)]);
    const { path, send } = await callbacksOf(of, {});
    await done(person.patch(path, { triggers: [{ event: '*', agentflow_id }] }));
    await send();
    return startedBy(of, agentflow_id);
  },
  'sets the secret of the callbacks of a connector': async (of, person) => {
    const agentflow_id = await coworker(of.workspace, [url(of)]);
    const { path, send } = await callbacksOf(of, { triggers: [{ event: '*', agentflow_id }] });
    const secret = newId();
    await done(person.patch(path, { callback_secret: secret }));
    await send(secret);
    return startedBy(of, agentflow_id);
  },
  'activates a connector with triggers': async (of, person) => {
    const agentflow_id = await coworker(of.workspace, [url(of)]);
    const { path, send } = await callbacksOf(of, { triggers: [{ event: '*', agentflow_id }] });
    await done(of.workspace.api.post(`${path}/status`, { status: 'paused' }));
    await done(person.post(`${path}/status`, { status: 'active' }));
    await send();
    return startedBy(of, agentflow_id);
  },
};

const cases = [
  ...Object.entries(causes).map(([what, cause]) => ({ what, cause, by: 'person' })),
  ...Object.entries(ofSchedules).map(([what, cause]) => ({ what, cause, by: 'schedule' })),
  ...Object.entries(ofTriggers).map(([what, cause]) => ({ what, cause, by: 'trigger' })),
];

test.each(cases)('a person who $what may not decide its acts, and another person may', async ({ cause, by }) => {
  verifies('act.hold.cause', 'act.facts.started-by');
  // The rule holds only the acts of runs that were started in this way.
  const of = await governed({ ...ask, when: `context.input.started_by == "${by}"` });
  const userId = newId();
  const person = await personOf(deps, of.workspace, { userId, role: 'ORG_ADMIN' });
  const id = await cause(of, person);
  const approval = await heldApproval(of, id);
  const reason = expect.stringMatching(/^another person must decide: you /);
  expect(await person.get(`/v1/approvals/${approval}`)).toMatchObject({
    body: { may_decide: false, may_not_decide_reason: reason },
  });
  for (const decision of ['approve', 'reject'])
    expect(await decide(person, approval, decision)).toMatchObject({
      status: 403,
      body: { error_description: reason },
    });
  expect(of.seen()).toBe(0);
  const { body: audit } = await of.approver.get(`/v1/audit?resource=approval:${approval}&action=approval.decide`);
  expect(audit.data).toHaveLength(2);
  for (const entry of audit.data)
    expect(entry).toMatchObject({ actor: `user_jwt:${userId}`, outcome: expect.stringMatching(/^denied/) });
  expect(await decide(of.approver, approval, 'approve')).toMatchObject({ status: 200 });
  await untilExecution(of.workspace, id, 'completed');
  expect(of.seen()).toBe(1);
});

test('a person who caused an act may decide it if the rule allows it', async () => {
  verifies('act.hold.cause');
  const of = await governed({ ...ask, starter_may_decide: true });
  const person = await personOf(deps, of.workspace, { userId: newId(), role: 'ORG_ADMIN' });
  const { execution_id: id } = await prepareExecution(of.workspace, flow(of));
  await done(person.post(`/execute_flow/${id}/execute`, {}));
  const approval = await heldApproval(of, id);
  expect(await decide(person, approval, 'approve')).toMatchObject({ status: 200 });
  await untilExecution(of.workspace, id, 'completed');
});

test('a person who only pauses a schedule still decides the acts of its runs', async () => {
  verifies('act.hold.cause');
  const of = await governed(ask);
  const coworker_id = await coworker(of.workspace, [url(of)]);
  const { _id } = await scheduled(of.workspace, { coworker_id, ...later });
  const path = `/schedule/coworker/${_id}`;
  await done(of.approver.patch(path, { status: 'paused' }));
  await done(of.workspace.api.patch(path, { status: 'active' }));
  await done(of.workspace.api.post(`${path}/trigger`, {}));
  const id = await startedBy(of, coworker_id);
  expect(await decide(of.approver, await heldApproval(of, id), 'approve')).toMatchObject({ status: 200 });
  await untilExecution(of.workspace, id, 'completed');
});
