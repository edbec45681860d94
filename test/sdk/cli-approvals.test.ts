import { expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { createKey, useDeps, type Workspace } from '../support/fixture.js';
import { createGatewayWorkspace } from '../support/gateway.js';
import { useGcs, type Ended } from '../support/gcs.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { create: folderOf, pulled } = useGcs();

const flow = { name: 'Greeter', agents: [{ _id: 'a', title: 'A' }] };

/** A project whose rules hold an operation, with its files and those of a second person. */
async function held(operation: string) {
  const workspace = await createGatewayWorkspace(deps);
  await workspace.api.post('/agentflow', flow);
  const folder = await pulled(workspace);
  expect(await folder.gcs(['push', '--release'])).toMatchObject({ code: 0 });
  const rule = { policy_id: 'ask', effect: 'require_approval', tools: [operation] };
  expect(await workspace.gateway.post('/v1/policies/rules', rule)).toMatchObject({ status: 201 });
  const approver = folderOf({ ...workspace, apiKey: await createKey(deps, { ...workspace, userId: newId() }) });
  return { workspace, folder, approver };
}

function approvalOf({ code, stdout, stderr }: Ended): string {
  expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
  return /^gcs: the call waits for the approval ([\w-]+); .*\n$/.exec(stderr)?.[1] ?? stderr;
}

async function approvalsOf({ gateway }: Workspace & { gateway: Workspace['api'] }) {
  return (await gateway.get('/v1/approvals')).body.data as { approval_id: string; status: string }[];
}

test('a command whose call is held does it once somebody has approved it, and asks only once', async () => {
  verifies('cli.approvals');
  const { workspace, folder, approver } = await held('release.point');
  const id = approvalOf(await folder.gcs(['promote', 'greeter']));
  expect(approvalOf(await folder.gcs(['promote', 'greeter']))).toBe(id);
  expect(await approver.gcs(['approve', id])).toMatchObject({ code: 0, stdout: 'approved\n' });
  expect(await folder.gcs(['promote', 'greeter'])).toMatchObject({ code: 0, stdout: 'production: release 1\n' });
  expect((await approvalsOf(workspace)).map(({ status }) => status)).toEqual(['used']);
  expect(await approver.gcs(['approve', id])).toMatchObject({ code: 4 });
});

test('a command whose call was rejected asks anew', async () => {
  verifies('cli.approvals');
  const { folder, approver } = await held('release.point');
  const id = approvalOf(await folder.gcs(['promote', 'greeter']));
  expect(await approver.gcs(['reject', id])).toMatchObject({ code: 0, stdout: 'rejected\n' });
  expect(approvalOf(await folder.gcs(['promote', 'greeter']))).not.toBe(id);
});

test('a push continues after the approval of one of its changes', async () => {
  verifies('cli.approvals');
  const { workspace, folder, approver } = await held('agentflow.update');
  folder.edit('agentflows/greeter.yaml', 'name: Greeter', 'name: Greeter of all');
  folder.write('tables/leads.yaml', 'table_name: Leads\n');
  const first = await folder.gcs(['push']);
  expect(first).toMatchObject({ code: 5, stdout: '+ tables/leads\n' });
  const id = approvalOf({ ...first, stdout: '' });
  expect(await approver.gcs(['approve', id])).toMatchObject({ code: 0 });
  expect(await folder.gcs(['push'])).toMatchObject({ code: 0, stdout: '~ agentflows/greeter\nFiles pushed: 1.\n' });
  expect((await workspace.api.get('/agentflow')).body.data).toMatchObject([{ name: 'Greeter of all' }]);
});
