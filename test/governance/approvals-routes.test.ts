import { describe, expect, test } from '@jest/globals';
import { approvalWorkflowId } from '../../workflows/approval/messages.js';
import type { Principal } from '../../src/auth/principal.js';
import { payloadDigest } from '../../src/governance/approvals/payload-digest.js';
import { newId } from '../../src/base/ids.js';
import { agent, asking, colleagueOf, hold, principalOf, useApprovals } from '../support/governance/approvals.js';
import { verifies } from '../support/verifies.js';

const { deps, approvals, elsewhere, api } = useApprovals();

const path = (id: string, decision = '') => `/v1/approvals/${id}${decision}`;

describe('POST /v1/approvals/{id}/approve and /reject', () => {
  test('answers 409 when the approval is no longer pending, and a rejected call gets no token', async () => {
    verifies('gateway.approvals.reject', 'approval.not-pending', 'approval.rejected', 'approval.token.ended');
    const principal = agent();
    const { approval_id } = await hold(approvals, principal);
    const approver = api.as(colleagueOf(principal));
    expect(await approver.post(path(approval_id, '/reject'), { comment: 'no' })).toMatchObject({
      status: 200,
      body: { status: 'rejected' },
    });
    for (const decision of ['/approve', '/reject']) {
      expect(await approver.post(path(approval_id, decision), {})).toMatchObject({
        status: 409,
        body: { error: 'conflict', error_description: 'the approval is rejected' },
      });
    }
    expect((await api.as(principal).get(path(approval_id))).body).not.toHaveProperty('resume_token');
    expect(await deps.mongo.collections.approvals.findOne({ _id: approval_id })).not.toHaveProperty('token');
  });

  test('requires an administrator other than the requester, whatever the credential', async () => {
    verifies('approval.roles');
    const principal = agent({ role: 'OWNER' });
    const { approval_id } = await hold(approvals, principal);
    const denied = { status: 403, body: { error: 'S2:resolve-scope' } };
    const same = { userId: principal.userId };
    for (const who of [
      principal,
      colleagueOf(principal, 'OWNER', same),
      colleagueOf(principal, 'ORG_ADMIN', { ...same, kind: 'session' }),
      colleagueOf(principal, 'MEMBER'),
    ]) {
      expect(await api.as(who).post(path(approval_id, '/approve'), {})).toMatchObject(denied);
      expect(await api.as(who).post(path(approval_id, '/reject'), {})).toMatchObject(denied);
    }
    const handle = deps.temporal.client.workflow.getHandle(approvalWorkflowId(approval_id));
    const own = { approver: { user_id: principal.userId, role: 'OWNER' }, decision: 'approve' };
    await expect(handle.executeUpdate('decide', { args: [own] })).rejects.toMatchObject({
      cause: { type: 'access_denied' },
    });
    await expect(handle.executeUpdate('decide', { args: [{ decision: 'approve' }] })).rejects.toMatchObject({
      cause: { type: 'invalid_request' },
    });
    for (const role of ['OWNER', 'ORG_ADMIN', 'PROJECT_ADMIN']) {
      const held = await hold(approvals, agent({ ...colleagueOf(principal, 'MEMBER'), kind: 'session' }));
      expect(await api.as(colleagueOf(principal, role)).post(path(held.approval_id, '/approve'), {})).toMatchObject({
        status: 200,
      });
    }
  });

  test('answers 404 for an unknown, a malformed and another project’s approval', async () => {
    verifies('gateway.approvals.unknown');
    const principal = agent();
    const { approval_id } = await hold(approvals, principal);
    const stranger = principalOf('OWNER');
    const sibling = colleagueOf(principal, 'OWNER', { projectId: newId() });
    for (const [who, id] of [
      [stranger, approval_id],
      [sibling, approval_id],
      [stranger, newId()],
      [stranger, 'x'],
      [stranger, '%00'],
    ] as const) {
      for (const decision of ['/approve', '/reject'])
        expect(await api.as(who).post(path(id, decision), {})).toMatchObject({
          status: 404,
          body: { error: 'not_found' },
        });
      expect(await api.as(who).get(path(id))).toMatchObject({ status: 404 });
    }
    expect(await api.as(stranger).post(path(approval_id, '/approve'), { surprise: 1 })).toMatchObject({ status: 400 });
  });

  test('requires as many different people as the policy asks for', async () => {
    verifies('approval.several-approvers', 'gateway.approvals.approve');
    const principal = agent();
    const { approval_id } = await hold(approvals, principal, { decision: { ...asking, approvers: 3 } });
    const [one, two, three] = ['OWNER', 'ORG_ADMIN', 'PROJECT_ADMIN'].map((role) => colleagueOf(principal, role)) as [
      Principal,
      Principal,
      Principal,
    ];
    expect(await api.as(one).post(path(approval_id, '/approve'), {})).toMatchObject({
      status: 200,
      body: { status: 'pending', votes: [{ user_id: one.userId }], decided_by: null },
    });
    expect(await api.as({ ...one, kind: 'session' }).post(path(approval_id, '/approve'), {})).toMatchObject({
      status: 409,
    });
    expect(await api.as(two).post(path(approval_id, '/approve'), {})).toMatchObject({
      status: 200,
      body: { status: 'pending' },
    });
    expect((await api.as(principal).get(path(approval_id))).body).not.toHaveProperty('resume_token');
    expect(await api.as(three).post(path(approval_id, '/approve'), {})).toMatchObject({
      status: 200,
      body: { status: 'approved', decided_by: three.userId },
    });
    expect((await api.as(principal).get(path(approval_id))).body).toHaveProperty('resume_token');
  });

  test('ends with one rejection, even if others approved', async () => {
    verifies('approval.several-approvers', 'approval.rejected');
    const principal = agent();
    const { approval_id } = await hold(approvals, principal, { decision: { ...asking, approvers: 2 } });
    await approvals.decide(colleagueOf(principal), approval_id, { decision: 'approve' });
    expect(await approvals.decide(colleagueOf(principal), approval_id, { decision: 'reject' })).toMatchObject({
      status: 'rejected',
    });
    await expect(approvals.decide(colleagueOf(principal), approval_id, { decision: 'approve' })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('has exactly one outcome for concurrent decisions', async () => {
    verifies('approval.not-pending');
    const principal = agent();
    const { approval_id } = await hold(approvals, principal);
    const settled = await Promise.allSettled(
      Array.from({ length: 16 }, (_, at) =>
        (at % 2 ? approvals : elsewhere).decide(colleagueOf(principal), approval_id, {
          decision: at % 3 ? 'approve' : 'reject',
        }),
      ),
    );
    const won = settled.filter((one) => one.status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const one of settled) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'conflict' });
    const record = await approvals.read(principal, approval_id);
    expect(record).toMatchObject({ status: won[0]?.value.status, votes: [{ user_id: won[0]?.value.decided_by }] });
    const stored = await deps.mongo.collections.approvals.findOne({ _id: approval_id });
    expect(stored?.token !== undefined).toBe(record.status === 'approved');
  });
});

describe('GET /v1/approvals', () => {
  test('lists the project’s approvals newest first, by status and by page; non-administrators see only their own', async () => {
    verifies('gateway.approvals.list');
    verifies('approval.pending');
    const principal = agent();
    const colleague = agent(colleagueOf(principal, 'MEMBER', { kind: 'api_key' }));
    const admin = api.as(colleagueOf(principal));
    const ids: string[] = [];
    for (const source of ['a', 'b', 'c'])
      ids.unshift(
        (await hold(approvals, principal, { payloadDigest: payloadDigest('save-context', { source }) })).approval_id,
      );
    ids.unshift((await hold(approvals, colleague)).approval_id);
    await admin.post(path(ids[1] ?? '', '/reject'), {});
    const first = await admin.get('/v1/approvals?limit=3');
    expect(first.body).toMatchObject({ total_count: 4, data: ids.slice(0, 3).map((approval_id) => ({ approval_id })) });
    const second = await admin.get(`/v1/approvals?limit=3&cursor=${first.body.next_cursor}`);
    expect(second.body).toMatchObject({
      next_cursor: null,
      data: [
        {
          approval_id: ids[3],
          status: 'pending',
          tool: 'save-context',
          requested_by: principal.userId,
          reason: asking.reason,
          policy_ids: ['ask'],
          decided_by: null,
          decided_at: null,
        },
      ],
    });
    expect((await admin.get('/v1/approvals?status=rejected')).body).toMatchObject({
      total_count: 1,
      data: [{ approval_id: ids[1] }],
    });
    expect(await admin.get('/v1/approvals?status=lost')).toMatchObject({ status: 400 });
    expect((await api.as(colleague).get('/v1/approvals')).body).toMatchObject({
      total_count: 1,
      data: [{ approval_id: ids[0] }],
    });
    expect(await api.as(colleague).get(path(ids[3] ?? ''))).toMatchObject({ status: 404 });
    expect((await api.as(principalOf()).get('/v1/approvals')).body).toEqual({
      data: [],
      total_count: 0,
      next_cursor: null,
    });
  });

  test('returns the resume token only to its requester', async () => {
    verifies('gateway.approvals.get');
    verifies('approval.approved');
    const principal = agent();
    const { approval_id } = await hold(approvals, principal);
    const admin = colleagueOf(principal);
    expect((await api.as(admin).post(path(approval_id, '/approve'), {})).body).not.toHaveProperty('resume_token');
    expect((await api.as(admin).get(path(approval_id))).body).not.toHaveProperty('resume_token');
    expect(JSON.stringify((await api.as(admin).get('/v1/approvals')).body)).not.toContain('svc_rt_');
    expect((await api.as(principal).get(path(approval_id))).body).toMatchObject({
      resume_token: expect.stringMatching(/^svc_rt_/),
      resume_token_expires_at: expect.any(Number),
    });
  });
});
