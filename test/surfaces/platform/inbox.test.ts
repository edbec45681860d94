import { describe, expect, test } from '@jest/globals';
import { executedBy } from '../../../src/domain/executions/executed-by.js';
import { newId } from '../../../src/base/ids.js';
import { payloadDigest } from '../../../src/governance/approvals/payload-digest.js';
import { epochSeconds } from '../../../src/base/time.js';
import { apiClient, type ApiClient } from '../../support/client.js';
import { createKey, createWorkspace, personOf, useDeps, type Workspace } from '../../support/fixture.js';
import { agent, hold } from '../../support/governance/approvals.js';
import { refusal } from '../../support/refusal.js';
import { seedExecution } from '../../support/seeded-executions.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();

/** A member of the project who requests a call that a policy holds. */
const memberOf = ({ organizationId, departmentId, projectID }: Workspace) =>
  agent({ organizationId, departmentId, projectId: projectID });
const asked = (workspace: Workspace, principal = memberOf(workspace)) =>
  hold(deps.governance.approvals, principal, { payloadDigest: payloadDigest('save-context', { source: newId() }) });

async function person(workspace: Workspace, role: string, userId: string = newId()): Promise<ApiClient> {
  const governance = role === 'MEMBER' ? [] : (['svc:governance.read', 'svc:governance.write'] as const);
  const grants = ['svc:orchestrate.read', 'svc:orchestrate.write', ...governance] as const;
  return apiClient(workspace.api.url, {
    'x-api-key': await createKey(deps, { ...workspace, userId }, { role, grants }),
  });
}

/** The record of an execution that waits, as its workflow writes it. */
function waitingExecution(workspace: Workspace, preview: object = {}, fields: object = {}) {
  const requested_at = epochSeconds();
  const expires_at = requested_at + 600;
  const asks = {
    preview_id: 'writer/preview',
    agent_id: 'writer',
    title: 'Writer',
    kind: 'output' as const,
    proposed: { output: 'Welcome!' },
    edits: null,
    requested_at,
    expires_at,
    decided_by: null,
    decided_at: null,
  };
  return seedExecution(deps, workspace, {
    status: 'running',
    execution_context: { waiting_for: { kind: 'preview', agent_id: 'writer', requested_at, expires_at } },
    previews: { writer: { ...asks, status: 'waiting' as const, ...preview } },
    coworker: { id: newId(), name: 'Newcomer guide' },
    ...fields,
  });
}

describe('GET /inbox', () => {
  test('names requesters, and executions name their creators', async () => {
    verifies('execution.readable-names');
    const mine = await createWorkspace(deps);
    const requester = memberOf(mine);
    const person = {
      _id: requester.userId,
      organization_id: mine.organizationId,
      email: `${requester.userId}@example.com`,
      name: 'Ada Lovelace',
      password_hash: '',
      created_at: 1,
    };
    await deps.mongo.collections.users.insertOne(person);
    await asked(mine, requester);
    const { body } = await mine.api.get('/inbox');
    expect(body.data[0].title).toMatch(/, asked by Ada Lovelace$/);
    expect(await executedBy(deps, { userId: requester.userId })).toMatchObject({
      _id: requester.userId,
      name: 'Ada Lovelace',
      type: 'manual',
    });
    expect(await executedBy(deps, { userId: requester.userId, keyName: 'test' })).toMatchObject({ name: 'key "test"' });
    expect(await executedBy(deps, { userId: requester.userId }, 'Newcomer guide')).toMatchObject({
      name: 'schedule of Newcomer guide',
      type: 'schedule',
    });
    expect(await executedBy(deps, { userId: 'nobody' })).toMatchObject({ name: 'nobody' });
  });

  test('lists the waiting items of the project, newest first, with the subject of each decision', async () => {
    verifies('platform.inbox.list');
    const [mine, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const older = await waitingExecution(mine);
    const requester = memberOf(mine);
    const held = await asked(mine, requester);
    const newer = await waitingExecution(mine, {}, { status: 'paused' });
    await waitingExecution(stranger);
    await asked(stranger);
    await seedExecution(deps, mine, { status: 'running' });
    await waitingExecution(mine, { status: 'approved' }, { execution_context: { waiting_for: null } });
    await waitingExecution(mine, {}, { status: 'failed' });
    const { body } = await mine.api.get(`/inbox?projectID=${mine.projectID}`);
    expect(body).toMatchObject({
      total_count: 3,
      next_cursor: null,
      data: [{ execution_id: newer._id }, { approval_id: held.approval_id }, { execution_id: older._id }],
    });
    const { requested_at, expires_at } = older.previews.writer as { requested_at: number; expires_at: number };
    expect(body.data[2]).toEqual({
      _id: expect.stringMatching(/^[\w.:-]+$/),
      kind: 'approval',
      // The key belongs to the person who started the run.
      may_decide: false,
      may_not_decide_reason: expect.stringMatching(
        /^an API key of a person who asked for it or caused it does not decide/,
      ),
      title: 'Newcomer guide: Writer',
      body: {
        ...{ summary: 'Newcomer guide: Writer: output “Welcome!”', approvals_given: 0, is_excerpt: true },
        payload_view: { has_hidden: false, is_redacted: true, is_shortened: false },
        ...{ tool: 'execution.preview', requested_by: mine.userId, policy_ids: ['builtin.preview'], policy_version: 0 },
        ...{ reason: 'An agent in preview mode asks a person before it acts.', required_approvers: 1, votes: [] },
        ...{ payload_digest: expect.stringMatching(/^[0-9a-f]{64}$/), edited_payload_digest: null },
        ...{ editable_fields: null, outcome_unknown: false, clock_stopped_at: null },
        ...{ lifecycle_id: null, approver_roles: null },
        call: {
          agent_id: 'writer',
          preview_id: 'writer/preview',
          goal: 'the goal',
          kind: 'output',
          proposed: { output: 'Welcome!' },
        },
      },
      execution_id: older._id,
      approval_id: expect.stringMatching(`^${older._id}:writer:`),
      created_at: requested_at,
      expires_at,
      read_at: null,
      status: 'waiting',
    });
    expect(body.data[1]).toMatchObject({
      _id: `approval:${held.approval_id}`,
      kind: 'approval',
      body: {
        tool: 'save-context',
        requested_by: requester.userId,
        payload_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        policy_ids: ['ask'],
        reason: 'Writes are looked at.',
      },
      execution_id: null,
      expires_at: held.expires_at,
      read_at: null,
      status: 'waiting',
    });
    expect(await mine.api.get(`/inbox?projectID=${stranger.projectID}`)).toMatchObject(refusal(403, 'access_denied'));
    expect(await mine.api.get('/inbox?cursor=nonsense')).toMatchObject(refusal(400, 'invalid_request', 'cursor'));
  });

  test('returns every item once across pages of both kinds, while others are added', async () => {
    verifies('platform.inbox.list');
    const workspace = await createWorkspace(deps);
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.unshift((await waitingExecution(workspace))._id);
      ids.unshift((await asked(workspace)).approval_id);
    }
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await workspace.api.get(`/inbox?limit=2${cursor}`);
      seen.push(...body.data.map((item: any) => item.execution_id ?? item.approval_id));
      await waitingExecution(workspace);
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(ids);
  });

  test('shows all approvals to administrators, and to others only their own requests', async () => {
    verifies('platform.inbox.list');
    const workspace = await createWorkspace(deps);
    const requester = memberOf(workspace);
    await asked(workspace);
    const own = await asked(workspace, requester);
    const member = await person(workspace, 'MEMBER', requester.userId);
    expect((await member.get('/inbox')).body).toMatchObject({
      total_count: 1,
      data: [{ approval_id: own.approval_id }],
    });
    expect((await (await person(workspace, 'PROJECT_ADMIN')).get('/inbox')).body.total_count).toBe(2);
  });
});

describe('POST /inbox/{id}/read', () => {
  test('marks an item as read only for the caller, and keeps the first time', async () => {
    verifies('platform.inbox.read');
    const workspace = await createWorkspace(deps);
    await waitingExecution(workspace);
    const { approval_id } = await asked(workspace);
    const [colleague, { api }] = [await person(workspace, 'OWNER'), workspace];
    const { data } = (await api.get('/inbox')).body;
    for (const item of data) {
      const answers = await Promise.all([
        api.post(`/inbox/${item._id}/read`),
        api.post(`/inbox/${item._id}/read`, { projectID: workspace.projectID }),
      ]);
      // The list shows an excerpt of the call, the item itself the call.
      const body = { ...item, body: { ...item.body, is_excerpt: false }, read_at: expect.any(Number) };
      expect(answers[0]).toMatchObject({ status: 200, body });
      expect(answers[1]?.body).toEqual(answers[0]?.body);
      expect((await api.post(`/inbox/${item._id}/read`)).body).toEqual(answers[0]?.body);
    }
    for (const { read_at } of (await api.get('/inbox')).body.data) expect(read_at).toEqual(expect.any(Number));
    const seenBy = ({ _id, read_at }: any) => [_id, read_at];
    expect((await colleague.get('/inbox')).body.data.map(seenBy)).toEqual(data.map(seenBy));
    expect(data.map(({ read_at }: any) => read_at)).toEqual([null, null]);
    expect(data.map((item: any) => item.approval_id)).toContain(approval_id);
  });

  test('answers 404 to an item that is unknown, malformed, of another project or hidden from the caller', async () => {
    verifies('platform.inbox.read', 'platform.inbox.reply');
    const [mine, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const own = await waitingExecution(mine);
    const theirs = await waitingExecution(stranger);
    const [held, foreign] = [await asked(mine), await asked(stranger)];
    const [item] = (await stranger.api.get('/inbox')).body.data.filter(
      ({ body }: any) => body.tool === 'execution.preview',
    );
    const ids = [
      item._id,
      `approval:${theirs._id}:writer:1`,
      `approval:${own._id}:writer`,
      `approval:${own._id}:writer:1`,
      `approval:${own._id}:nobody:1`,
    ];
    ids.push(
      `approval:${own._id}:__proto__:1`,
      'approval:x:y:z',
      `approval:${foreign.approval_id}`,
      `approval:${newId()}`,
      `approval:${held.approval_id}:x`,
      'approval:',
      newId(),
      'x',
      '%00',
      'a'.repeat(600),
    );
    for (const id of ids) {
      expect(await mine.api.post(`/inbox/${id}/read`)).toMatchObject(refusal(404, 'not_found'));
      expect(await mine.api.post(`/inbox/${id}/reply`, { decision: 'approve' })).toMatchObject(
        refusal(404, 'not_found'),
      );
    }
    const member = await person(mine, 'MEMBER');
    expect(await member.post(`/inbox/approval:${held.approval_id}/read`)).toMatchObject(refusal(404, 'not_found'));
    expect(await deps.mongo.collections.inbox_reads.countDocuments({ user_id: { $in: [mine.userId] } })).toBe(0);
    expect(
      await deps.mongo.collections.approvals.countDocuments({
        _id: { $in: [held.approval_id, foreign.approval_id] },
        status: 'pending',
      }),
    ).toBe(2);
  });
});

describe('POST /inbox/{id}/reply', () => {
  test.each([
    ['approve', 'approved'],
    ['reject', 'rejected'],
  ])('%s answers the approval of an item once', async (decision, status) => {
    verifies('platform.inbox.reply');
    const workspace = await createWorkspace(deps);
    const { approval_id } = await asked(workspace);
    const path = `/inbox/approval:${approval_id}/reply`;
    expect(await workspace.api.post(path, { decision, reason: 'because' })).toMatchObject({
      status: 200,
      body: {
        _id: `approval:${approval_id}`,
        status,
        body: { votes: [{ user_id: workspace.userId, comment: 'because' }] },
      },
    });
    expect(await deps.mongo.collections.approvals.findOne({ _id: approval_id })).toMatchObject({
      status,
      decided_by: workspace.userId,
    });
    for (const again of ['approve', 'reject'])
      expect(await workspace.api.post(path, { decision: again })).toMatchObject(refusal(409, 'conflict', status));
    expect((await workspace.api.get('/inbox')).body).toMatchObject({ total_count: 0, data: [] });
  });

  test('has one outcome for concurrent replies', async () => {
    verifies('platform.inbox.reply');
    const workspace = await createWorkspace(deps);
    const { approval_id } = await asked(workspace);
    const people = [
      workspace.api,
      await person(workspace, 'OWNER'),
      await person(workspace, 'ORG_ADMIN'),
      await person(workspace, 'PROJECT_ADMIN'),
    ];
    const answers = await Promise.all(
      people.map((api, at) =>
        api.post(`/inbox/approval:${approval_id}/reply`, { decision: at % 2 ? 'approve' : 'reject' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const winner = answers.find(({ status }) => status === 200);
    expect(await deps.mongo.collections.approvals.findOne({ _id: approval_id })).toMatchObject({
      status: winner?.body.status,
    });
  });

  test('follows the rules of approvals: an administrator other than the requester', async () => {
    verifies('platform.inbox.reply');
    const workspace = await createWorkspace(deps);
    const requester = { ...memberOf(workspace), role: 'OWNER' };
    const { approval_id } = await asked(workspace, requester);
    const path = `/inbox/approval:${approval_id}/reply`;
    const own = await asked(workspace, { ...requester, role: 'MEMBER' });
    for (const [api, id] of [
      [await person(workspace, 'OWNER', requester.userId), approval_id],
      [await person(workspace, 'MEMBER', requester.userId), own.approval_id],
    ] as const) {
      for (const decision of ['approve', 'reject'])
        expect(await api.post(`/inbox/approval:${id}/reply`, { decision })).toMatchObject(
          refusal(403, 'access_denied'),
        );
    }
    expect(await workspace.api.post(path, { decision: 'approve', edits: { a: 1 } })).toMatchObject(
      refusal(422, 'validation_failed', 'edits'),
    );
    expect(await workspace.api.post(path, { decision: 'maybe' })).toMatchObject(
      refusal(400, 'invalid_request', 'decision'),
    );
    expect(await workspace.api.post(path, { decision: 'approve', by: 'me' })).toMatchObject(
      refusal(400, 'invalid_request', 'by'),
    );
    const reader = apiClient(workspace.api.url, {
      'x-api-key': await createKey(deps, workspace, { grants: ['svc:orchestrate.read'] }),
    });
    expect(await reader.post(path, { decision: 'approve' })).toMatchObject(
      refusal(403, 'access_denied', 'svc:orchestrate.write'),
    );
    expect(await reader.post(`/inbox/approval:${approval_id}/read`)).toMatchObject(refusal(403, 'access_denied'));
    expect(await deps.mongo.collections.approvals.findOne({ _id: approval_id })).toMatchObject({
      status: 'pending',
      votes: [],
    });
  });

  test('answers 409 for a preview that was decided earlier or whose execution has ended', async () => {
    verifies('platform.inbox.reply');
    const workspace = await createWorkspace(deps);
    for (const [status, preview, fields] of [
      ['approved', { status: 'approved' }, {}],
      ['approved', { status: 'edited', edits: 'Hello' }, {}],
      ['rejected', { status: 'rejected' }, { status: 'failed' }],
      ['expired', {}, { status: 'failed' }],
    ] as const) {
      const { _id, previews } = await waitingExecution(workspace, preview, fields);
      const id = `approval:${_id}:writer:${Math.round((previews.writer as any).requested_at * 1000)}`;
      expect(await (await personOf(deps, workspace)).post(`/inbox/${id}/reply`, { decision: 'approve' })).toMatchObject(
        refusal(409, 'conflict', status),
      );
      expect((await workspace.api.post(`/inbox/${id}/read`)).body).toMatchObject({ status: preview.status ?? status });
    }
  });
});
