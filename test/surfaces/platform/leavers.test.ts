import { describe, expect, test } from '@jest/globals';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { apiClient, type ApiClient } from '../../support/client.js';
import { eventually } from '../../support/eventually.js';
import { createKey, createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';
import { coworker, scheduled, soon } from './schedules/schedules.js';

const deps = useDeps();
const { collections } = deps.mongo;
const { url } = testRun();

/** A workspace, and a member with their own key. */
async function withLeaver(): Promise<{
  workspace: Workspace;
  person: Person;
  theirs: Workspace;
  leave(): Promise<void>;
}> {
  const workspace = await createWorkspace(deps);
  const person = await createPerson(deps, { workspace, role: 'PROJECT_ADMIN' });
  const key = await createKey(deps, { ...workspace, userId: person.userId }, { role: 'PROJECT_ADMIN' });
  const own: ApiClient = apiClient(url, { 'x-api-key': key });
  return {
    workspace,
    person,
    theirs: { ...workspace, api: own, apiKey: key, userId: person.userId },
    async leave() {
      expect(await workspace.api.delete(`/project-member/${workspace.projectID}/${person.userId}`)).toMatchObject({
        status: 200,
      });
    },
  };
}

describe('the schedules and connectors of a person who has left', () => {
  test('a schedule of theirs belongs to whoever resumes it', async () => {
    verifies('auth.leavers');
    const { workspace, person, theirs, leave } = await withLeaver();
    const { _id } = await scheduled(theirs, {
      coworker_id: await coworker(theirs),
      type: 'interval',
      frequency: 86_400,
      schedule: soon(86_400),
    });
    const path = `/schedule/coworker/${_id}`;
    const restart = async () => {
      expect(await workspace.api.patch(path, { status: 'paused' })).toMatchObject({ status: 200 });
      return (await workspace.api.patch(path, { status: 'active' })).body;
    };
    expect(await restart()).toMatchObject({ status: 'active', created_by: person.userId });
    await leave();
    expect(await restart()).toMatchObject({ status: 'active', created_by: workspace.userId });
    expect(await workspace.api.post(`${path}/trigger`)).toMatchObject({ status: 200 });
    await eventually(async () => expect(await collections.executions.countDocuments({ schedule: _id })).toBe(1));
  });

  test('a connector of theirs accepts no callbacks and is paused with the reason; whoever activates it owns it', async () => {
    verifies('auth.leavers');
    const { workspace, person, theirs, leave } = await withLeaver();
    const { projectID } = workspace;
    const agentflow_id = await coworker(theirs);
    const made = await theirs.api.post(`/actions/restful/config?projectID=${projectID}`, {
      name: 'Register',
      config: { base_url: 'http://127.0.0.1:9' },
      triggers: [
        { event: '*', agentflow_id },
        { kind: 'voice', agentflow_id },
      ],
    });
    expect(made).toMatchObject({
      status: 200,
      body: { status: 'active', status_reason: null, user_id: person.userId },
    });
    const send = () =>
      apiClient(url).post(`/account-provider-webhook/${projectID}/${made.body._id}`, { event: 'changed' });
    expect((await send()).status).toBe(200);
    await leave();
    expect((await send()).status).toBe(404);
    const path = `/connectors/${projectID}/${made.body._id}`;
    expect((await workspace.api.get(path)).body).toMatchObject({
      status: 'paused',
      status_reason: expect.stringContaining('no longer a member'),
    });
    expect(await workspace.api.post(`${path}/status`, { status: 'active' })).toMatchObject({
      status: 200,
      body: { status: 'active', status_reason: null, user_id: workspace.userId },
    });
    expect((await send()).status).toBe(200);
    const voice = `/voice-provider/${made.body.triggers[1].trigger_id}`;
    expect((await apiClient(url).post(voice, {})).status).toBe(200);
    await eventually(async () =>
      expect(
        await collections.executions.findOne({ projectID, 'input_variables.trigger.kind': 'voice' }),
      ).toMatchObject({ executed_by: { _id: workspace.userId } }),
    );
  });
});

test('the answer stored for repeats is sealed: the pin of a connector is never stored in clear text', async () => {
  verifies('http.idempotency.sealed');
  const { api: own, projectID } = await createWorkspace(deps);
  const key = { 'idempotency-key': `create-${projectID}` };
  const make = () => own.post(`/actions/mail/config?projectID=${projectID}`, { name: 'Office' }, key);
  const made = await make();
  const pin = String(made.body.notify_path).split('/').at(-1) ?? '';
  expect(pin).toMatch(/^[\w-]{32}$/);
  const kept = await collections.idempotency.find({}).toArray();
  expect(JSON.stringify(kept)).not.toContain(pin);
  expect((await make()).body).toEqual(made.body);
});
