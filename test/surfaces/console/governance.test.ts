import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { tabTo, shot } from '../../support/browser.js';
import { createKey, useDeps } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, withPage } from './chromium.js';
import { asPage } from './console-browser.js';

const deps = useDeps();
/** The beginning of what the held call says. */
const heldSummary = 'Set the default model: model held-model';

/** A call that a rule of the organization holds until another person decides. */
async function heldCall(person: Person, model = 'held-model') {
  const gateway = bearerClient(person.workspace.apiKey);
  const ask = {
    policy_id: 'ask-for-models',
    description: 'Models are looked at',
    effect: 'require_approval',
    tools: ['save-model'],
  };
  await gateway.put('/v1/policies', { policies: [{ policy_id: 'all', effect: 'permit' }, ask] });
  const { body } = await gateway.post('/v1/save-model', { model });
  const approval = () => gateway.get(`/v1/approvals/${body.approval_id}`);
  return { gateway, id: body.approval_id as string, lifecycleId: body.lifecycle_id as string, approval };
}

test('an approval can be found, read and approved by keyboard with a reason, and the call then passes', async () => {
  verifies('console.approvals', 'console.accessible');
  const person = await createPerson(deps);
  const { gateway, id, lifecycleId, approval } = await heldCall(person);
  await withPage(async (page) => {
    await signIn(page, person);
    await tabTo(page, 'Inbox');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await tabTo(page, 'Waiting');
    await page.keyboard.press('ArrowRight');
    await shot(page, 'approvals');
    await tabTo(page, heldSummary);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: heldSummary }).waitFor();
    await page.getByText('Models are looked at').first().waitFor();
    await page.getByText('Exact call', { exact: true }).click();
    await page.getByRole('region', { name: 'Exact call' }).getByText('held-model').waitFor();
    const shown = (await page.locator('main').textContent()) ?? '';
    const { body } = await approval();
    for (const text of [body.payload_digest, body.requested_by, body.tool, 'ask-for-models', lifecycleId, id])
      expect(shown).toContain(text);
    const expiry = new Date(body.expires_at * 1000).toISOString();
    expect(await page.locator(`time[datetime="${expiry}"]`).count()).toBe(1);
    await shot(page, 'approval');
    await tabTo(page, 'Approve…');
    await page.keyboard.press('Enter');
    await page.getByLabel('Reason (optional)').waitFor();
    await page.keyboard.type('agreed with the owner');
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'approved' }).waitFor();
    await page.getByText('agreed with the owner').waitFor();
    await page.getByText(/^Approved by .* on exactly this call/).waitFor();
    await page.getByRole('region', { name: 'Exact call' }).getByText('held-model').waitFor();
    // The page can show the decision before its own request is answered.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await shot(page, 'approval-approved');
  });
  const { body } = await approval();
  expect(body).toMatchObject({
    status: 'approved',
    decided_by: person.userId,
    votes: [{ decision: 'approve', comment: 'agreed with the owner' }],
  });
  expect(
    (await gateway.post('/v1/save-model', { model: 'held-model' }, { 'x-resume-token': body.resume_token })).status,
  ).toBe(200);
});

test('an approval can be rejected; a second decision is refused with the current state and keeps what was typed', async () => {
  verifies('console.approvals');
  const person = await createPerson(deps);
  const { id, approval } = await heldCall(person);
  const second = await createPerson(deps, { workspace: person.workspace });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/approvals/${id}`));
    await page.getByRole('button', { name: 'Approve…' }).click();
    await page.getByLabel('Reason (optional)').fill('typed before');
    const { client } = await asPage(second);
    expect(await client().post(`/v1/approvals/${id}/reject`, { reason: 'no <b>' })).toMatchObject({ status: 200 });
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByRole('alert').getByText('The approval is rejected').waitFor();
    expect(await page.getByLabel('Reason (optional)').inputValue()).toBe('typed before');
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('no <b>').waitFor();
    await page.goto(consoleUrl(person, '/approvals?status=pending'));
    await page.waitForURL(consoleUrl(person, '/inbox?show=approvals&status=pending'));
    await page.getByText('No approvals match these filters.').waitFor();
    await page.getByRole('combobox', { name: 'State' }).selectOption('rejected');
    await page.getByRole('link', { name: heldSummary }).waitFor();
  });
  expect((await approval()).body).toMatchObject({ status: 'rejected', votes: [{ comment: 'no <b>' }] });
});

test('an approval cannot be decided by its requester or by a member, who sees only their own requests', async () => {
  verifies('console.approvals', 'console.sign-in');
  const person = await createPerson(deps);
  const member = await createPerson(deps, { role: 'MEMBER', workspace: person.workspace });
  const { id } = await heldCall(person);
  const ownKey = bearerClient(await createKey(deps, { ...person.workspace, userId: person.userId }));
  const own = (await ownKey.post('/v1/save-model', { model: 'mine' })).body.approval_id as string;
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/approvals/${own}`));
    await page.getByText('Nobody decides on their own request.').waitFor();
    expect(await page.getByRole('button', { name: /Approve|Reject/ }).count()).toBe(0);
  });
  await withPage(async (page) => {
    await signIn(page, member, consoleUrl(member, '/approvals'));
    await page.getByText('You may only see the approvals that you requested.').waitFor();
    await page.getByText('You have not requested any approvals.').waitFor();
    expect(await page.getByText('This project has no approvals yet').count()).toBe(0);
    await page.goto(consoleUrl(member, `/approvals/${id}`));
    await page.getByRole('alert').getByText('was not found').waitFor();
  });
  const decide = async (by: Person, which: string) =>
    (await (await asPage(by)).client().post(`/v1/approvals/${which}/approve`, {})).status;
  expect(await decide(person, own)).toBe(403);
  expect([403, 404]).toContain(await decide(member, id));
  expect((await ownKey.get(`/v1/approvals/${id}`)).body.status).toBe('pending');
});

test('a lifecycle is shown as its eight stages, with its decision and its audit entry', async () => {
  verifies('console.governance');
  const person = await createPerson(deps);
  const { gateway, lifecycleId } = await heldCall(person);
  const refused = (await gateway.post('/v1/save-model', { temperature: 1 })).body.lifecycle_id as string;
  await gateway.post('/v1/orchestrate', { operation: 'list' });
  const { body } = await gateway.get(`/v1/lifecycles/${lifecycleId}`);
  const entries = (await gateway.get('/v1/audit')).body.data;
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/lifecycles'));
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('Save a model');
    await page.getByText('2 calls').waitFor();
    await page.getByRole('combobox', { name: 'State' }).selectOption('pending_approval');
    await page.getByText('1 call', { exact: true }).waitFor();
    await page.waitForURL(/\?tool=save-model&status=pending_approval$/);
    await shot(page, 'lifecycles');
    await page.getByRole('link', { name: 'Save a model' }).click();
    await page.locator('.stages li').first().waitFor();
    const drawn = await page.locator('.stages-outcome').allTextContents();
    const reached = new Map(body.stages.map(({ stage, status }: any) => [stage.slice(0, 2), status]));
    const expected = ['S1', 'S2', 'S3', 'S4', 'S5', 'S6', 'S7', 'S8'].map(
      (stage) => reached.get(stage) ?? 'not reached',
    );
    expect(drawn.map((text) => text.replace(/^\S+\s+/, ''))).toEqual(expected);
    expect(expected).toContain('not reached');
    const entry = entries.find(({ lifecycle_id }: any) => lifecycle_id === lifecycleId);
    const record = page.getByRole('region', { name: 'Audit entry' });
    await record.getByText(/^Save a model: pending approval/).waitFor();
    expect(await page.locator('main').innerText()).not.toContain('save-model');
    await record.getByText('Details').click();
    await page.getByText(entry.hash).waitFor();
    const main = (await page.locator('main').textContent()) ?? '';
    expect(body.decision).toMatchObject({ decision_id: body.decision_id, decision: 'require_approval' });
    for (const text of [body.decision_id, 'Require approval', entry.prev_hash, body.trace_id])
      expect(main).toContain(text);
    await shot(page, 'lifecycle');
    await page.getByRole('link', { name: 'Open approval' }).click();
    await page.getByRole('heading', { name: heldSummary }).waitFor();
    await page.goto(consoleUrl(person, `/lifecycles/${refused}`));
    await page.locator('.stages-failed').getByText('Input', { exact: true }).waitFor();
    await shot(page, 'lifecycle-refused');
  });
  const foreign = await createPerson(deps);
  await withPage(async (page) => {
    await signIn(page, foreign, consoleUrl(foreign, '/lifecycles'));
    await page.getByText('No governed calls have been made in this project yet.').waitFor();
    expect(await page.getByRole('region', { name: 'Command' }).textContent()).toContain('/v1/docs');
    await page.goto(consoleUrl(foreign, `/lifecycles/${lifecycleId}`));
    await page.getByRole('alert').getByText('Lifecycle was not found').waitFor();
  });
});

test('the quota is shown as meters that follow the calls, with their numbers as text', async () => {
  verifies('console.governance', 'quota.read');
  const person = await createPerson(deps);
  const gateway = bearerClient(person.workspace.apiKey);
  const { projectMax, organizationMax, windowSeconds } = deps.config.quota;
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/usage'));
    const meter = page.getByRole('meter', { name: 'This project' });
    expect(await meter.evaluate(({ value, max }: any) => [value, max])).toEqual([0, projectMax]);
    for (let call = 0; call < 3; call += 1) await gateway.post('/v1/orchestrate', { operation: 'list' });
    await page.getByText(`3 of ${projectMax} used`).waitFor();
    expect(await meter.evaluate(({ value }: any) => value)).toBe(3);
    expect(
      await page.getByRole('meter', { name: 'Organization' }).evaluate(({ value, max }: any) => [value, max]),
    ).toEqual([3, organizationMax]);
    await page.getByText('No credits have been charged yet in the projects that you may see.').waitFor();
    await shot(page, 'usage');
  });
  expect(await gateway.get('/v1/quota')).toMatchObject({
    status: 200,
    body: {
      window_seconds: windowSeconds,
      project: { used: 3, max: projectMax },
      organization: { used: 3, max: organizationMax },
    },
  });
});

test('the audit chain is filtered, exported, verified, and verified again after a change of an entry', async () => {
  verifies('console.governance');
  const person = await createPerson(deps);
  const gateway = bearerClient(person.workspace.apiKey);
  for (let call = 0; call < 3; call += 1) await gateway.post('/v1/orchestrate', { operation: 'list' });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/audit'));
    await page.getByText('The chain is valid.').waitFor();
    const { head_hash, entries } = (await gateway.get('/v1/audit/verify')).body;
    const verdict = page.locator('section', { has: page.getByRole('heading', { name: 'Verification' }) });
    expect(await verdict.textContent()).toContain(head_hash);
    expect(await verdict.locator('dd').first().textContent()).toBe(String(entries));
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    expect(readFileSync(await (await download).path(), 'utf8')).toContain(head_hash);
    await page.getByRole('combobox', { name: 'Action' }).selectOption('Start or steer a run');
    await page.getByText('3 entries', { exact: true }).waitFor();
    await page
      .getByRole('button', { name: /^Entry / })
      .first()
      .click();
    await page.getByRole('dialog').getByText('Details').click();
    await page.getByRole('dialog').getByText('Previous hash').waitFor();
    await shot(page, 'audit');
    await page.getByRole('link', { name: 'Only entries with this outcome' }).click();
    await page.waitForURL(/audit\?.*outcome=completed/);
    await page.getByText('3 entries', { exact: true }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { audit_entries } = deps.mongo.collections;
    const changed = await audit_entries.findOne({ _id: { $regex: `^${person.workspace.organizationId}:` }, seq: 2 });
    await audit_entries.updateOne({ _id: changed?._id ?? '' }, { $set: { outcome: 'never happened' } });
    await page.getByRole('button', { name: 'Verify again' }).click();
    await page.getByRole('alert').getByText('The chain is broken').waitFor();
    expect(await verdict.locator('dd').nth(1).textContent()).toBe('2');
    await shot(page, 'audit-broken');
  });
  const member = await createPerson(deps, { role: 'MEMBER', workspace: person.workspace });
  await withPage(async (page) => {
    await signIn(page, member, consoleUrl(member, '/audit'));
    await page.getByText('It requires a role that reads the project').waitFor();
    expect(await page.getByRole('navigation').getByRole('link', { name: 'Audit' }).count()).toBe(0);
  });
  expect((await (await asPage(member)).client().get('/v1/audit')).status).toBe(403);
});

test('audit entries are filtered by a person, by the exact action and by a click on a cell', async () => {
  verifies('console.audit.filters');
  const person = await createPerson(deps);
  const other = await createPerson(deps, { role: 'ORG_ADMIN', workspace: person.workspace });
  const { client } = await asPage(other);
  const api = client({ 'x-service-workspace': `ws_${person.workspace.projectID}` });
  await api.post(`/tag?projectID=${person.workspace.projectID}`, { name: 'urgent' });
  await bearerClient(person.workspace.apiKey).post('/v1/inbox', { operation: 'list' });
  await api.post('/v1/inbox', { operation: 'list' });
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/audit'));
    await page.getByRole('combobox', { name: 'Action' }).selectOption('Read or decide what waits');
    await page.getByText('2 entries', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Person' }).selectOption(other.userId);
    await page.getByText('1 entry', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    const entries = page.getByRole('table', { name: 'Entries' });
    await entries.getByRole('link', { name: 'Create a tag' }).click();
    await page.waitForURL(/action=tag\.create$/);
    await page.getByText('1 entry', { exact: true }).waitFor();
    await entries.getByRole('link', { name: 'Completed' }).click();
    await page.waitForURL(/outcome=completed/);
    // An actor that is no member of the project is still named.
    await page.goto(consoleUrl(person, `/audit?actor=user_jwt:${other.userId}`));
    await page
      .getByRole('combobox', { name: 'Person' })
      .locator('option:checked')
      .getByText(/by sign-in$/)
      .waitFor({ state: 'attached' });
    await shot(page, 'audit-filtered');
  });
});
