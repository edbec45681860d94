import { renameSync, rmSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { defaultGrants } from '../../src/auth/grants.js';
import { createKey, createWorkspace, useDeps } from '../support/fixture.js';
import { createProject, secret, secrets } from '../support/gcs-project.js';
import { useGcs } from '../support/gcs.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { create: folderOf, pulled } = useGcs();

const files = [
  'agentflows/claims.yaml',
  'agentflows/helper.yaml',
  'connectors/claims-api.yaml',
  'dashboard/leads-by-stage.yaml',
  'dashboard/tasks.yaml',
  'policies/ask-for-mail.yaml',
  'policies/permit-everything.yaml',
  'schedules/claims-cron.yaml',
  'tables/leads.yaml',
];
const nothing = { code: 0, stdout: 'Nothing differs.\n', stderr: '' };
const isId = /[0-9a-f]{8}-[0-9a-f]{4}/;

describe('files of all resources', () => {
  test('have names instead of ids, no secrets, and the same bytes after each pull', async () => {
    verifies('cli.resources', 'cli.round-trip');
    const { workspace } = await createProject(deps);
    const folder = await pulled(workspace);
    const before = folder.contents();
    expect(Object.keys(before)).toEqual(expect.arrayContaining(files));
    const all = Object.values(before).join('\n');
    expect(all).not.toContain(secret);
    expect(all).not.toMatch(isId);
    expect(folder.read('schedules/claims-cron.yaml')).toContain(
      'coworker_id: agentflows/claims\ngoal: Read {{ row.company }}',
    );
    expect(folder.read('connectors/claims-api.yaml')).toMatch(/agentflow_id: agentflows\/helper[^]*agentflows\/claims/);
    expect(folder.read('agentflows/claims.yaml')).toMatch(
      /connector_id: connectors\/claims-api[^]*connector_id: tables\/leads/,
    );
    expect(await folder.gcs(['plan'])).toMatchObject(nothing);
    expect(await folder.gcs(['push'])).toMatchObject({ code: 0, stdout: 'Nothing to push.\n' });
    expect(await folder.gcs(['pull', '--force'])).toMatchObject({ code: 0 });
    expect(folder.contents()).toEqual(before);
    expect((await pulled(workspace)).contents()).toEqual(before);
    for (const noun of ['table', 'agentflow', 'connector', 'schedule', 'component', 'policy'])
      expect(JSON.parse(folder.read(`.gcs/${noun}.schema.json`))).toMatchObject({ properties: expect.any(Object) });
  });

  test('make the same project again in another organization, once it has the secrets', async () => {
    verifies('cli.another-project', 'cli.secrets');
    const source = await pulled((await createProject(deps)).workspace);
    const other = await createWorkspace(deps);
    const folder = folderOf(other);
    for (const [name, text] of Object.entries(source.contents())) folder.write(name, text);
    const refused = await folder.gcs(['push']);
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr).toMatch(
      /^gcs: connectors\/claims-api: .*config\.auth\.token in GCS_SECRET_CLAIMS_API_CONFIG_AUTH_TOKEN.*\n$/,
    );
    expect((await other.api.get('/agentflow')).body.data).toEqual([]);
    const pushed = await folder.gcs(['push'], { ...folder.settings, ...secrets });
    expect(pushed).toMatchObject({ code: 0, stderr: '' });
    expect(await folder.gcs(['plan'])).toMatchObject(nothing);
    expect(folder.contents()).toEqual(source.contents());
    expect((await pulled(other)).contents()).toEqual(source.contents());
    const [schedule] = (await other.api.get('/schedule/coworker')).body.data;
    const flows = (await other.api.get('/agentflow')).body.data as { _id: string; name: string; steps: object[] }[];
    const claims = flows.find(({ name }) => name === 'Claims');
    expect(schedule).toMatchObject({ status: 'paused', coworker_id: claims?._id });
    expect(claims?.steps).toMatchObject([{ agentflow_id: flows.find(({ name }) => name === 'Helper')?._id }]);
  });

  test('change, add and delete each kind, and say what differs', async () => {
    verifies('cli.resources', 'cli.prune');
    const { workspace } = await createProject(deps);
    const folder = await pulled(workspace);
    folder.edit('schedules/claims-cron.yaml', 'status: paused\n', 'overlap: allow_all\n');
    folder.edit('connectors/claims-api.yaml', 'base_url:', 'timeout_ms: 5000\n  base_url:');
    folder.edit('tables/leads.yaml', 'columns:\n', 'columns:\n  - { column_name: Owner, column_type: string }\n');
    folder.edit('dashboard/leads-by-stage.yaml', 'title: Leads by stage', 'title: Leads by stage\nsubTitle: All');
    folder.edit('policies/ask-for-mail.yaml', 'approvers: 2', 'approvers: 3');
    folder.write(
      'policies/no-mail-at-night.yaml',
      'policy_id: no-mail-at-night\neffect: forbid\ntools: [act.mail]\nwhen: context.hour < 6\n',
    );
    const { code, stdout } = await folder.gcs(['plan']);
    expect(code).toBe(2);
    expect(stdout.split('\n')).toEqual([
      '~ tables/leads: update (columns)',
      '~ connectors/claims-api: update (config)',
      '~ schedules/claims-cron: update (overlap, status)',
      '~ dashboard/leads-by-stage: update (subTitle)',
      '~ policies/ask-for-mail: update (approvers)',
      '+ policies/no-mail-at-night: create',
      expect.stringMatching(/^Files that differ: 6 of \d+\.$/),
      '',
    ]);
    const before = (await workspace.gateway.get('/v1/policies')).body.version;
    expect(await folder.gcs(['push'])).toMatchObject({ code: 0, stderr: '' });
    expect(await folder.gcs(['plan'])).toMatchObject(nothing);
    expect(await (await pulled(workspace)).gcs(['plan'])).toMatchObject(nothing);
    const { version, policies } = (await workspace.gateway.get('/v1/policies')).body;
    expect(version).toBe(before + 1);
    expect(policies).toMatchObject([
      { policy_id: 'permit-everything' },
      { approvers: 3 },
      { policy_id: 'no-mail-at-night' },
    ]);
    expect((await workspace.api.get('/schedule/coworker')).body.data).toMatchObject([
      { status: 'active', overlap: 'allow_all' },
    ]);

    for (const name of ['schedules/claims-cron', 'policies/no-mail-at-night', 'dashboard/leads-by-stage'])
      rmSync(folder.file(`${name}.yaml`));
    expect(await folder.gcs(['push'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Nothing to push\.$/m),
    });
    const pruned = await folder.gcs(['push', '--prune']);
    expect(pruned).toMatchObject({ code: 0, stdout: expect.stringContaining('- policies/no-mail-at-night') });
    expect((await workspace.api.get('/schedule/coworker')).body.data).toEqual([]);
    expect((await workspace.gateway.get('/v1/policies')).body.policies).toHaveLength(2);
    expect(await (await pulled(workspace)).gcs(['plan'])).toMatchObject(nothing);
  });

  test('delete columns and their values only with --prune, and refuse what a table cannot change', async () => {
    verifies('cli.prune', 'cli.wrong-files');
    const { workspace } = await createProject(deps);
    const folder = await pulled(workspace);
    const file = 'tables/leads.yaml';
    const original = folder.read(file);
    const refused = (text: RegExp) => ({ code: 3, stdout: '', stderr: expect.stringMatching(text) });
    folder.edit(file, 'table_name: Leads', 'table_name: Customers');
    expect(await folder.gcs(['push'])).toMatchObject(refused(/tables\/leads: table_name: must stay "Leads"/));
    folder.write(file, original.replace('column_type: string', 'column_type: number'));
    expect(await folder.gcs(['push'])).toMatchObject(refused(/"Company" must stay as it is/));
    folder.write(file, original.replace(/ {2}- column_name: Company\n.*\n/, ''));
    expect(await folder.gcs(['push'])).toMatchObject(refused(/"Company" must stay, or be deleted .*--prune/));
    expect(await folder.gcs(['push', '--prune'])).toMatchObject({ code: 0 });
    expect((await pulled(workspace)).read(file)).toBe(folder.read(file));
    expect(folder.read(file)).not.toContain('Company');
  });

  test('of each kind do not overwrite what somebody else has changed', async () => {
    verifies('cli.drift');
    const { workspace, connector } = await createProject(deps);
    const { api, gateway, projectID } = workspace;
    const folder = await pulled(workspace);
    const [schedule] = (await api.get('/schedule/coworker')).body.data;
    await api.patch(`/schedule/coworker/${schedule._id}`, { overlap: 'buffer_one' });
    await api.patch(`/connectors/${projectID}/${connector._id}`, { tags: ['theirs'] });
    await gateway.patch('/v1/policies/rules/ask-for-mail', { approvers: 4 });
    folder.edit('schedules/claims-cron.yaml', 'status: paused', 'jitter: 5');
    folder.edit('connectors/claims-api.yaml', 'name: Claims API', 'name: Mine');
    folder.edit('policies/ask-for-mail.yaml', 'approvers: 2', 'approvers: 3');
    const drift = await folder.gcs(['push']);
    expect(drift).toMatchObject({ code: 4, stdout: '' });
    expect(drift.stderr).toContain('connectors/claims-api, schedules/claims-cron, policies/ask-for-mail: was changed');
    expect(await folder.gcs(['pull', '--force'])).toMatchObject({ code: 0 });
    expect(folder.read('connectors/claims-api.yaml')).toContain('theirs');
    expect(await folder.gcs(['plan'])).toMatchObject(nothing);
  });

  test('can be pushed again after the service has refused a part of them', async () => {
    verifies('cli.push');
    const { workspace } = await createProject(deps);
    const folder = await pulled(workspace);
    const owner = '  - { column_name: Owner, column_type: string }\n';
    folder.edit('tables/leads.yaml', 'columns:\n', `columns:\n${owner}  - { column_name: Kind, column_type: enum }\n`);
    expect(await folder.gcs(['push'])).toMatchObject({ code: 1, stderr: expect.stringContaining('enum_options') });
    folder.edit('tables/leads.yaml', 'column_type: enum }', 'column_type: enum, enum_options: [a] }');
    expect(await folder.gcs(['push'])).toMatchObject({ code: 0, stdout: expect.stringContaining('~ tables/leads') });
  });

  test('can be made again after the file and the resource were deleted', async () => {
    verifies('cli.push');
    const own = await createWorkspace(deps);
    const folder = await pulled(own);
    folder.write('agentflows/a.yaml', 'name: A\n');
    expect(await folder.gcs(['push'])).toMatchObject({ code: 0 });
    const [{ _id }] = (await own.api.get('/agentflow')).body.data;
    rmSync(folder.file('agentflows/a.yaml'));
    expect(await own.api.delete(`/agentflow/${_id}`)).toMatchObject({ status: 200 });
    expect(await folder.gcs(['pull'])).toMatchObject({ code: 0 });
    folder.write('agentflows/a.yaml', 'name: A\n');
    expect(await folder.gcs(['push'])).toMatchObject({ code: 0, stdout: '+ agentflows/a\nFiles pushed: 1.\n' });
  });

  test('can have other names, and stay files of the same resources', async () => {
    verifies('cli.names');
    const { workspace, helper } = await createProject(deps);
    const folder = await pulled(workspace);
    renameSync(folder.file('agentflows/helper.yaml'), folder.file('agentflows/assistant.yaml'));
    folder.edit('agentflows/assistant.yaml', 'name: Helper', 'name: Helper\ndescription: Helps');
    for (const name of ['agentflows/claims', 'connectors/claims-api'])
      folder.edit(`${name}.yaml`, 'agentflows/helper', 'agentflows/assistant');
    const { code, stdout } = await folder.gcs(['plan']);
    expect([code, stdout]).toEqual([
      2,
      expect.stringMatching(/^~ agentflows\/assistant: update \(description\)\nFiles that differ: 1 of/),
    ]);
    expect(await folder.gcs(['push', '--prune'])).toMatchObject({ code: 0 });
    expect((await workspace.api.get(`/agentflow/${helper._id}`)).body).toMatchObject({ description: 'Helps' });
    expect(await folder.gcs(['plan'])).toMatchObject(nothing);
  });

  test('are those that the key may read', async () => {
    verifies('cli.grants');
    const { workspace } = await createProject(deps);
    const apiKey = await createKey(deps, workspace, { grants: defaultGrants('OWNER') });
    const folder = await pulled({ projectID: workspace.projectID, apiKey });
    expect(Object.keys(folder.contents())).toEqual(files.filter((name) => !name.startsWith('policies/')));
    expect(await folder.gcs(['plan'])).toMatchObject(nothing);
    folder.write('policies/mine.yaml', 'policy_id: mine\neffect: permit\n');
    expect(await folder.gcs(['push'])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^gcs: policies: .*--only/),
    });
    expect(await folder.gcs(['push', '--only', 'agentflows', 'tables'])).toMatchObject({ code: 0 });
  });

  test('refer only to files or resources that are there', async () => {
    verifies('cli.wrong-files');
    const { workspace } = await createProject(deps);
    const folder = await pulled(workspace);
    folder.edit('schedules/claims-cron.yaml', 'agentflows/claims', 'agentflows/nobody');
    const missing = (name: string) => ({ code: 3, stdout: '', stderr: expect.stringContaining(`there is no ${name}`) });
    expect(await folder.gcs(['push'])).toMatchObject(missing('agentflows/nobody'));
    folder.edit('schedules/claims-cron.yaml', 'agentflows/nobody', 'agentflows/claims');
    rmSync(folder.file('agentflows/helper.yaml'));
    expect(await folder.gcs(['push', '--prune'])).toMatchObject(missing('agentflows/helper'));
  });
});
