import { beforeAll, describe, expect, test } from '@jest/globals';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { tabTo } from '../../support/browser.js';
import { createKey, useDeps } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, screenshots, shot, signIn, withPage } from './chromium.js';
import { signedInConsole } from './console-browser.js';

const deps = useDeps();
beforeAll(() => console.log(`screenshots in ${screenshots()}`));

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

describe('approvals', () => {
  test('can be found, read and approved by keyboard with a reason, and the call then passes', async () => {
    verifies('console.approvals', 'console.accessible');
    const person = await createPerson(deps);
    const { gateway, id, lifecycleId, approval } = await heldCall(person);
    await withPage(async (page) => {
      await signIn(page, person);
      await tabTo(page, 'Approvals');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Approvals' }).waitFor();
      await shot(page, 'approvals');
      await tabTo(page, 'save-model');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Approval of save-model' }).waitFor();
      const shown = (await page.locator('[data-part=what]').textContent()) ?? '';
      const { body } = await approval();
      for (const text of [
        body.payload_digest,
        body.requested_by,
        body.tool,
        'ask-for-models',
        'Models are looked at',
        lifecycleId,
        id,
      ])
        expect(shown).toContain(text);
      expect(shown).toContain(new Date(body.expires_at * 1000).toISOString().slice(0, 19).replace('T', ' '));
      await shot(page, 'approval');
      await tabTo(page, 'Reason (optional, kept with your vote)');
      await page.keyboard.type('agreed with the owner');
      await tabTo(page, 'Approve');
      await page.keyboard.press('Enter');
      await page.getByText('Your approval is recorded.').waitFor();
      expect(await page.locator('[data-part=state]').textContent()).toContain('approved');
      expect(await page.locator('[data-part=votes]').textContent()).toContain('agreed with the owner');
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

  test('can be rejected, and a second decision is refused with the current state', async () => {
    verifies('console.approvals');
    const person = await createPerson(deps);
    const { id, approval } = await heldCall(person);
    const client = await signedInConsole(person);
    expect(
      await client.send(`${client.base}/approvals/${id}`, { decision: 'reject', comment: 'no <b>' }),
    ).toMatchObject({ status: 303 });
    expect((await approval()).body).toMatchObject({ status: 'rejected', votes: [{ comment: 'no <b>' }] });
    const again = await client.send(`${client.base}/approvals/${id}`, { decision: 'approve' });
    expect(again.status).toBe(409);
    expect(again.html).toContain('role="alert">The approval is rejected.');
    expect(again.html).toContain('no &lt;b&gt;');
    expect((await client.send(`${client.base}/approvals/${id}`, { decision: 'perhaps' })).html).toContain(
      'not sent by one of its buttons',
    );
    expect((await client.open(`${client.base}/approvals`)).html).toContain('Nothing waits for a decision.');
    expect((await client.open(`${client.base}/approvals?status=rejected`)).html).toContain(id);
  });

  test('cannot be decided by the requester or by a member, who sees only their own requests', async () => {
    verifies('console.approvals', 'console.sign-in');
    const person = await createPerson(deps);
    const member = await createPerson(deps, { role: 'MEMBER', workspace: person.workspace });
    const { id } = await heldCall(person);
    const ownKey = bearerClient(await createKey(deps, { ...person.workspace, userId: person.userId }));
    const own = (await ownKey.post('/v1/save-model', { model: 'mine' })).body.approval_id as string;
    const client = await signedInConsole(person);
    const page = (await client.open(`${client.base}/approvals/${own}`)).html;
    expect(page).toContain('You asked for this yourself');
    expect(page).not.toContain('value="approve"');
    const refused = await client.send(`${client.base}/approvals/${own}`, { decision: 'approve' });
    expect([refused.status, refused.html.includes('Nobody decides on their own request.')]).toEqual([403, true]);
    const other = await signedInConsole(member);
    expect((await other.open(`${other.base}/approvals`)).html).toContain('Nothing waits for a decision.');
    expect((await other.open(`${other.base}/approvals/${id}`)).status).toBe(404);
    expect([403, 404]).toContain((await other.send(`${other.base}/approvals/${id}`, { decision: 'approve' })).status);
    expect((await ownKey.get(`/v1/approvals/${id}`)).body.status).toBe('pending');
  });
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
    await page.getByLabel('Tool').fill('save-model');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('2 of 2 shown.').waitFor();
    await page.getByLabel('State').selectOption('pending_approval');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('1 of 1 shown.').waitFor();
    await shot(page, 'lifecycles');
    await page.getByRole('link', { name: 'save-model' }).click();
    const drawn = await page.locator('.strip li .outcome').allTextContents();
    const reached = new Map(body.stages.map(({ stage, status }: any) => [stage.slice(0, 2), status]));
    const expected = ['S1', 'S2', 'S3', 'S4', 'S5', 'S6', 'S7', 'S8'].map(
      (stage) => reached.get(stage) ?? 'not reached',
    );
    expect(drawn.map((text) => text.replace(/^\S+\s+/, ''))).toEqual(expected);
    expect(expected).toContain('not reached');
    const main = (await page.locator('main').textContent()) ?? '';
    const entry = entries.find(({ lifecycle_id }: any) => lifecycle_id === lifecycleId);
    for (const text of [body.decision_id, 'require approval', entry.hash, entry.prev_hash, body.trace_id])
      expect(main).toContain(text);
    await shot(page, 'lifecycle');
    await page.goto(consoleUrl(person, `/lifecycles/${refused}`));
    expect(await page.locator('.strip .failed').textContent()).toContain('validate-input');
    await shot(page, 'lifecycle-refused');
  });
  const foreign = await signedInConsole(await createPerson(deps));
  expect((await foreign.open(`${foreign.base}/lifecycles/${lifecycleId}`)).status).toBe(404);
});

test('the quota is shown as meters that follow the calls, with their numbers as text', async () => {
  verifies('console.governance');
  const person = await createPerson(deps);
  const gateway = bearerClient(person.workspace.apiKey);
  await withPage(async (page) => {
    await signIn(page, person);
    const meter = page.getByRole('meter', { name: 'This project' });
    expect(await meter.evaluate(({ value, max }: any) => [value, max])).toEqual([0, deps.config.quota.projectMax]);
    for (let call = 0; call < 3; call += 1) await gateway.post('/v1/orchestrate', { operation: 'list' });
    await page.getByText(`3 of ${deps.config.quota.projectMax} used`).waitFor();
    expect(await meter.evaluate(({ value }: any) => value)).toBe(3);
    expect(
      await page.getByRole('meter', { name: 'Its organization' }).evaluate(({ value, max }: any) => [value, max]),
    ).toEqual([3, deps.config.quota.organizationMax]);
    await shot(page, 'overview');
  });
});

test('the audit chain is verified, and verified again after a change of an entry', async () => {
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
    await shot(page, 'audit');
    const { audit_entries } = deps.mongo.collections;
    const changed = await audit_entries.findOne({ _id: { $regex: `^${person.workspace.organizationId}:` }, seq: 2 });
    await audit_entries.updateOne({ _id: changed?._id ?? '' }, { $set: { outcome: 'never happened' } });
    await page.getByRole('button', { name: 'Verify anew' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('The chain is broken');
    expect(await verdict.locator('dd').nth(1).textContent()).toBe('2');
    await shot(page, 'audit-broken');
  });
});
