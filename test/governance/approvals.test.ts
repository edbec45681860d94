import { describe, expect, test } from '@jest/globals';
import { approvalWorkflowId, stateQuery } from '../../workflows/approval/messages.js';
import type { Principal } from '../../src/auth/principal.js';
import { payloadDigest } from '../../src/governance/approvals/payload-digest.js';
import type { ApprovalRequest } from '../../src/governance/approvals/stage.js';
import { newId } from '../../src/base/ids.js';
import { epochSeconds } from '../../src/base/time.js';
import { agent, asking, colleagueOf, heldCall, hold, payload, useApprovals } from '../support/governance/approvals.js';
import { catalog } from '../../src/catalog.js';
import { verifies } from '../support/verifies.js';

const { deps, approvals, elsewhere, api } = useApprovals();
const { policies } = deps.governance;

/** Holds a call, approves it, and returns its resume token. */
async function approvedToken(principal: Principal, fields: Partial<ApprovalRequest> = {}): Promise<string> {
  const { approval_id } = await hold(approvals, principal, fields);
  await approvals.decide(colleagueOf(principal), approval_id, { decision: 'approve' });
  const { resume_token } = await approvals.read(principal, approval_id);
  expect(resume_token).toMatch(/^svc_rt_[\w-]{43}$/);
  return resume_token ?? '';
}

const path = (id: string, decision = '') => `/v1/approvals/${id}${decision}`;

/** Expects a time that is this many seconds after a time between `before` and now. */
function expectWithin(end: number | undefined, before: number, seconds: number): void {
  expect(end).toBeGreaterThan(before + seconds - 1);
  expect(end).toBeLessThan(epochSeconds() + seconds + 1);
}

describe('S6:approval', () => {
  test('holds a call until its approval, in a workflow named after the approval, then lets it pass once', async () => {
    verifies('approval.workflow', 'approval.approved', 'approval.token.once', 'pipeline.s6-approval');
    const principal = agent();
    const before = epochSeconds();
    const { approval_id, expires_at } = await hold(approvals, principal);
    expectWithin(expires_at, before, 600);
    const handle = deps.temporal.client.workflow.getHandle(approvalWorkflowId(approval_id));
    expect(await handle.query(stateQuery)).toMatchObject({ status: 'pending', votes: [] });
    const approver = colleagueOf(principal);
    expect(await api.as(approver).post(path(approval_id, '/approve'), { comment: 'fine' })).toMatchObject({
      status: 200,
      body: {
        approval_id,
        status: 'approved',
        decided_by: approver.userId,
        votes: [{ comment: 'fine' }],
        payload_digest: payloadDigest('save-context', payload),
      },
    });
    const read = await api.as(principal).get(path(approval_id));
    expect(read.headers.get('cache-control')).toBe('no-store');
    const resumeToken = read.body.resume_token;
    expect(await approvals.stage(heldCall(principal, { resumeToken }))).toEqual({
      outcome: 'resumed',
      approvalId: approval_id,
      recordId: expect.any(String),
    });
    expect(await approvals.stage(heldCall(principal, { resumeToken }))).toMatchObject({
      outcome: 'refused',
      reason: 'used',
      error: { code: 'approval_refused' },
    });
    expect((await api.as(principal).get(path(approval_id))).body).not.toHaveProperty('resume_token');
  });

  test('lets one of 50 concurrent uses on two processes pass', async () => {
    verifies('approval.token.once');
    const principal = agent();
    const resumeToken = await approvedToken(principal);
    const uses = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        (at % 2 ? approvals : elsewhere).stage(heldCall(principal, { resumeToken })),
      ),
    );
    expect(uses.filter(({ outcome }) => outcome === 'resumed')).toHaveLength(1);
    expect(uses.filter((use) => use.outcome === 'refused' && use.reason === 'used')).toHaveLength(49);
  });

  test('refuses a token for another call with the reason that its holder may know, and the token stays valid', async () => {
    verifies('approval.token.bound', 'approval.token.ended', 'approval.refusal-texts');
    const principal = agent();
    const resumeToken = await approvedToken(principal);
    const wrong: [string, Partial<ApprovalRequest>][] = [
      ['other_payload', { payloadDigest: payloadDigest('save-context', { ...payload, source: 'other' }) }],
      ['other_tool', { tool: 'catalog-ingest' }],
      ['other_caller', { principal: { ...principal, userId: newId() } }],
      ['other_caller', { principal: { ...principal, keyId: newId() } }],
      ['other_caller', { principal: { ...principal, kind: 'session', keyId: '' } }],
      ['other_project', { principal: { ...principal, projectId: newId() } }],
      ['other_policy_version', { decision: { ...asking, policy_version: 2 } }],
      ['other_policies', { decision: { ...asking, policy_ids: ['ask', 'ask-more'] } }],
      ['other_policies', { decision: { ...asking, approvers: 2 } }],
      ['not_asked', { decision: { ...asking, decision: 'permit' } }],
      ['not_asked', { dryRun: true }],
      ['unknown', { resumeToken: `svc_rt_${'A'.repeat(43)}` }],
      ['malformed', { resumeToken: 'svc_rt_' }],
      ['malformed', { resumeToken: `${resumeToken} ` }],
      ['malformed', { resumeToken: '' }],
    ];
    const texts = new Map<string, string>();
    for (const [reason, fields] of wrong) {
      const outcome = await approvals.stage(heldCall(principal, { resumeToken, ...fields }));
      expect(outcome).toMatchObject({ outcome: 'refused', reason, error: { code: 'approval_refused' } });
      if (outcome.outcome === 'refused') texts.set(reason, outcome.error.message);
    }
    // A caller with a foreign token learns nothing about the token.
    for (const reason of ['malformed', 'other_caller', 'other_project'])
      expect(texts.get(reason)).toBe(texts.get('unknown'));
    expect([
      texts.get('other_payload'),
      texts.get('other_tool'),
      texts.get('other_policies'),
      texts.get('not_asked'),
    ]).toEqual([
      expect.stringMatching(/another payload/),
      expect.stringMatching(/another operation/),
      expect.stringMatching(/policies changed/),
      expect.stringMatching(/needs no approval.*dry run/),
    ]);
    expect(await elsewhere.stage(heldCall(principal, { resumeToken }))).toMatchObject({ outcome: 'resumed' });
  });

  test('refuses the token of a call if the policies have changed', async () => {
    verifies('approval.token.bound', 'policy.same-rules');
    const principal = agent();
    const rules = [{ policy_id: 'ask', description: '', effect: 'require_approval' as const }];
    const admin = colleagueOf(principal);
    const decide = async () => {
      const { projectId: id } = principal;
      return policies.evaluate({
        principal,
        operation: catalog.named('save-context'),
        resource: { type: 'project', id },
        mode: 'simple',
        dryRun: false,
        input: payload,
        at: new Date(),
      });
    };
    await policies.replace(admin, rules);
    const before = await decide();
    const resumeToken = await approvedToken(principal, { decision: before });
    // The same rules do not create a new version, so they invalidate no token.
    expect(await policies.replace(admin, rules)).toMatchObject({ version: 1 });
    await policies.replace(admin, [...rules, { policy_id: 'more', description: '', effect: 'permit' }]);
    expect(await approvals.stage(heldCall(principal, { decision: await decide(), resumeToken }))).toMatchObject({
      outcome: 'refused',
      reason: 'other_policy_version',
    });
    expect(await approvals.stage(heldCall(principal, { decision: before, resumeToken }))).toMatchObject({
      outcome: 'resumed',
    });
  });

  test('refuses an expired token', async () => {
    verifies('approval.token.ended');
    const principal = agent();
    const before = epochSeconds();
    const resumeToken = await approvedToken(principal);
    const records = deps.mongo.collections.approvals;
    const approved = await records.findOne({ project_id: principal.projectId });
    expectWithin(approved?.token?.expires_at, before, asking.approval_ttl_seconds);
    const _id = approved?._id ?? '';
    await records.updateOne({ _id }, { $set: { 'token.expires_at': epochSeconds() } });
    expect(await approvals.read(principal, _id)).not.toHaveProperty('resume_token');
    expect(await approvals.stage(heldCall(principal, { resumeToken }))).toMatchObject({
      outcome: 'refused',
      reason: 'expired',
      error: { message: expect.stringMatching(/expired/) },
    });
  });

  test('stores tokens only as a hash and sealed, and not in the workflow’s history', async () => {
    const principal = agent();
    const resumeToken = await approvedToken(principal);
    const stored = await deps.mongo.collections.approvals.findOne({ project_id: principal.projectId });
    expect(JSON.stringify(stored)).not.toContain(resumeToken.slice(7));
    const { events } = await deps.temporal.client.workflow
      .getHandle(approvalWorkflowId(stored?._id ?? ''))
      .fetchHistory();
    const text = payloadsOf(events);
    expect(text).toContain(principal.projectId);
    expect(text).not.toContain('svc_rt_');
  });

  test('gives an identical waiting call the same approval, also concurrently on two processes', async () => {
    verifies('approval.pending');
    const principal = agent();
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, at) => (at % 2 ? approvals : elsewhere).stage(heldCall(principal))),
    );
    const ids = new Set(
      outcomes.map((outcome) => (outcome.outcome === 'pending' ? outcome.approvalId : outcome.outcome)),
    );
    expect(ids.size).toBe(1);
    for (const other of [
      { payloadDigest: payloadDigest('save-context', {}) },
      { decision: { ...asking, policy_version: 2 } },
      { principal: { ...principal, keyId: newId() } },
    ]) {
      expect(ids).not.toContain((await hold(approvals, principal, other)).approval_id);
    }
    const [first = ''] = ids;
    await approvals.decide(colleagueOf(principal), first, { decision: 'reject' });
    expect((await hold(approvals, principal)).approval_id).not.toBe(first);
  });

  test('uses an approval without a token only after its record shows the approval, and then also the use', async () => {
    const principal = agent();
    const { collections } = deps.mongo;
    const { approval_id: _id } = await hold(approvals, principal);
    await approvals.decide(colleagueOf(principal), _id, { decision: 'approve' });
    const call = heldCall(principal, { resumesItself: true });
    // A record of 0.2.0 shows the approval a moment after its token was stored.
    await collections.approvals.updateOne({ _id }, { $set: { status: 'pending' } });
    expect(await approvals.stage(call)).toMatchObject({ outcome: 'pending', approvalId: _id });
    await collections.approvals.updateOne({ _id }, { $set: { status: 'approved' } });
    expect(await approvals.stage(call)).toMatchObject({ outcome: 'resumed', approvalId: _id });
  });

  test('requires no approval for a dry run or a permitted call', async () => {
    const principal = agent();
    expect(await approvals.stage(heldCall(principal, { dryRun: true }))).toEqual({ outcome: 'not_asked' });
    expect(await approvals.stage(heldCall(principal, { decision: { ...asking, decision: 'permit' } }))).toEqual({
      outcome: 'not_asked',
    });
    expect((await approvals.list(principal, { limit: 50 })).total_count).toBe(0);
  });

  test('digests the canonical payload: the order of keys does not matter, the tool and every value do', () => {
    const digest = payloadDigest('docs', { a: 1, b: ['x'] });
    expect(payloadDigest('docs', { b: ['x'], a: 1.0 })).toBe(digest);
    for (const other of [
      payloadDigest('doc', { a: 1, b: ['x'] }),
      payloadDigest('docs', { a: '1', b: ['x'] }),
      payloadDigest('docs', { a: 1, b: [['x']] }),
    ])
      expect(other).not.toBe(digest);
  });
});

/** The bytes of every payload as text. */
function payloadsOf(value: unknown): string {
  if (value instanceof Uint8Array || ArrayBuffer.isView(value)) return Buffer.from(value as Uint8Array).toString();
  return typeof value === 'object' && value !== null ? Object.values(value).map(payloadsOf).join('\n') : '';
}
