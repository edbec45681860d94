import { describe, expect, test } from '@jest/globals';
import type { Collection, Document } from 'mongodb';
import type { Principal } from '../../src/auth/principal.js';
import { newId } from '../../src/base/ids.js';
import { sha256Hex } from '../../src/base/hash.js';
import { epochSeconds } from '../../src/base/time.js';
import { createApprovals } from '../../src/governance/approvals/create-approvals.js';
import { moveTokens, type EarlierToken } from '../../src/governance/approvals/earlier-records.js';
import { payloadDigest } from '../../src/governance/approvals/payload-digest.js';
import { mintResumeToken, publishApproval } from '../../src/governance/approvals/publish.js';
import { toApprovalDocument } from '../../src/governance/approvals/record.js';
import { redeemResumeToken } from '../../src/governance/approvals/redeem.js';
import { callerOf } from '../../src/governance/approvals/resume-token.js';
import { settleApproval } from '../../src/governance/approvals/settle.js';
import { sweepApprovals } from '../../src/governance/approvals/sweep.js';
import { withdrawApprovals } from '../../src/governance/approvals/withdraw.js';
import { sweepIntents } from '../../src/governance/sweep.js';
import { agent, heldCall, hold, payload, principalOf, useApprovals } from '../support/governance/approvals.js';
import { verifies } from '../support/verifies.js';

const { deps, approvals, elsewhere } = useApprovals();
const { collections } = deps.mongo;
const { audit } = deps.governance;
const unchanged = async (value: unknown) => value;
/** Requests approvals whose workflows do not run here, as if an earlier worker had them. */
const requesting = createApprovals({
  ...{ collections, audit, secrets: deps.auth.box, redact: unchanged, hideSecrets: unchanged },
  temporal: { ...deps.temporal, call: async () => undefined as never },
});
const sweep = async () => {
  await moveTokens(collections);
  await sweepApprovals({ collections, audit, temporal: deps.temporal, log: deps.log });
};

/** A state of an approval as the workflow of 0.2.0 has it. */
const approved = { status: 'approved' as const, votes: [], decided_by: 'a', decided_at: epochSeconds() };

/** Holds a call, and changes its records into those of a process of 0.2.0, whose workflow waits. */
async function askedBefore(principal: Principal) {
  const { approval_id: _id } = await hold(requesting, principal);
  const stored = await collections.approvals.findOne({ _id });
  if (!stored?.call) throw new Error('no approval was stored');
  const { call, caller, token_ttl_seconds, due_at: _due, attempts: _attempts, ...record } = stored;
  const input = { ...record, approval_id: _id, caller: caller ?? '', token_ttl_seconds: token_ttl_seconds ?? 0 };
  await collections.approvals.replaceOne({ _id }, record);
  const forget_at = new Date((record.expires_at + 3600) * 1000);
  await collections.approval_requests.insertOne({ _id: call, request: input, forget_at });
  return { _id, call, input };
}

type Asked = Awaited<ReturnType<typeof askedBefore>>;

/** The activities of a workflow that began with 0.2.0. */
async function approve({ input }: Asked, edited_payload_digest?: string): Promise<void> {
  const edited = edited_payload_digest !== undefined && { edited_payload_digest };
  await mintResumeToken(deps.mongo, deps.auth.box, { input, approved_at: epochSeconds(), ...edited });
  await publishApproval({ collections, audit }, { input, state: { ...approved, ...edited }, revision: 2 });
}

async function approvedBefore(principal: Principal = agent(), edited?: string) {
  const asked = await askedBefore(principal);
  await approve(asked, edited);
  const { resume_token: resumeToken = '' } = await approvals.read(principal, asked._id);
  return { ...asked, principal, resumeToken };
}

const earlierToken = (approval_id: string) => collections.resume_tokens.findOne({ approval_id });

/** How a process of 0.2.0 uses a token. Returns whether its call passes. */
async function useAsBefore(approval_id: string, lifecycleId = newId()): Promise<boolean> {
  const token = await earlierToken(approval_id);
  if (!token || token.used_at !== null || token.expires_at <= epochSeconds()) return false;
  const { _id, expires_at } = token;
  const used = { used_at: epochSeconds(), used_by: lifecycleId, record_id: newId() };
  return (
    (await collections.resume_tokens.updateOne({ _id, used_at: null, expires_at }, { $set: used })).matchedCount === 1
  );
}

/** The process is killed after so many writes to these collections. */
function killedAfter(writes: number): typeof collections {
  let left = writes;
  const killing = <T extends Document>(collection: Collection<T>) =>
    new Proxy(collection, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          if (/^(update|delete|insert|replace)/.test(String(name)) && left-- <= 0) throw new Error('killed');
          return value.apply(target, args);
        };
      },
    });
  const { approvals: records, resume_tokens: tokens } = collections;
  return { ...collections, approvals: killing(records), resume_tokens: killing(tokens) };
}

describe('an approval that a process of 0.2.0 stored', () => {
  test('is shared by the same call while it waits, and then permits it once', async () => {
    verifies('approval.upgrade');
    const principal = agent();
    const asked = await askedBefore(principal);
    const again = await Promise.all([approvals, elsewhere].map((each) => hold(each, principal)));
    expect(again.map(({ approval_id }) => approval_id)).toEqual([asked._id, asked._id]);
    expect(await collections.approvals.countDocuments({ project_id: principal.projectId })).toBe(1);
    await approve(asked);
    expect(await approvals.stage(heldCall(principal, { resumesItself: true }))).toMatchObject({
      outcome: 'resumed',
      approvalId: asked._id,
    });
    expect(await approvals.stage(heldCall(principal, { approvalId: asked._id }))).toMatchObject({ reason: 'used' });
    expect((await hold(approvals, principal)).approval_id).not.toBe(asked._id);
  });

  test('is not shared after it was decided, and its claim does not return', async () => {
    verifies('approval.upgrade');
    const principal = agent();
    const asked = await askedBefore(principal);
    const state = { ...approved, status: 'rejected' as const };
    await publishApproval({ collections, audit }, { input: asked.input, state, revision: 2 });
    const { approval_id } = await hold(approvals, principal);
    expect(approval_id).not.toBe(asked._id);
    expect((await hold(elsewhere, principal)).approval_id).toBe(approval_id);
  });

  test('keeps its claim if the process is killed while it moves it', async () => {
    verifies('approval.upgrade');
    const principal = agent();
    const { _id, call } = await askedBefore(principal);
    await collections.approvals.updateOne({ _id }, { $set: { call } });
    expect((await hold(approvals, principal)).approval_id).toBe(_id);
  });

  test('gives its requester the token, which lets one of many calls on processes of both releases pass', async () => {
    verifies('approval.upgrade', 'approval.token.once');
    for (let round = 0; round < 10; round += 1) {
      const { _id, principal, resumeToken } = await approvedBefore();
      expect(resumeToken).toMatch(/^svc_rt_/);
      const uses = await Promise.all(
        Array.from({ length: 9 }, async (_, at) => {
          if (at % 3 === 2) return useAsBefore(_id);
          const stage = (at % 3 ? approvals : elsewhere).stage(heldCall(principal, { resumeToken }));
          return (await stage).outcome === 'resumed';
        }),
      );
      expect(uses.filter(Boolean)).toHaveLength(1);
      expect(await useAsBefore(_id)).toBe(false);
      expect(await approvals.stage(heldCall(principal, { resumeToken }))).toMatchObject({ outcome: 'refused' });
    }
  });

  test.each([0, 1, 2])('permits its call once if the process is killed after %d writes of the move', async (writes) => {
    verifies('approval.upgrade', 'approval.token.once');
    const { _id, principal, resumeToken } = await approvedBefore();
    const before = (await earlierToken(_id))?.expires_at;
    const { projectId, userId } = principal;
    const call = {
      ...{
        token: resumeToken,
        lifecycleId: newId(),
        caller: callerOf(principal),
        projectId,
        userId,
        now: epochSeconds(),
      },
      ...{ tool: 'save-context', payloadDigest: payloadDigest('save-context', payload), policyVersion: 1 },
      ...{ policyIds: ['ask'], approvers: 1 },
    };
    await expect(redeemResumeToken(killedAfter(writes), call)).rejects.toThrow('killed');
    if (writes > 0) expect(await useAsBefore(_id)).toBe(false);
    expect(await approvals.read(principal, _id)).toMatchObject({
      resume_token: resumeToken,
      resume_token_expires_at: before,
    });
    expect(await redeemResumeToken(collections, call)).toMatchObject({ approvalId: _id });
    expect(await redeemResumeToken(collections, { ...call, lifecycleId: newId() })).toBe('used');
    await sweep();
    expect(await earlierToken(_id)).toBeNull();
  });

  test('permits only the call as an approver has edited it', async () => {
    verifies('approval.upgrade', 'approval.token.bound');
    const edited = payloadDigest('save-context', { edited: 'digest', edits: { source: 'other' } });
    const { _id, principal, resumeToken } = await approvedBefore(agent(), edited);
    expect(await approvals.stage(heldCall(principal, { resumeToken }))).toMatchObject({ reason: 'other_payload' });
    const other = { ...principal, keyId: newId() };
    expect(await approvals.stage(heldCall(other, { resumeToken, payloadDigest: edited }))).toMatchObject({
      reason: 'other_caller',
    });
    expect(await approvals.stage(heldCall(principal, { resumeToken, payloadDigest: edited }))).toMatchObject({
      outcome: 'resumed',
      approvalId: _id,
    });
  });

  test('whose token a call of such a process uses is refused until that call releases it', async () => {
    verifies('approval.upgrade', 'approval.token-returned');
    const { _id, principal, resumeToken } = await approvedBefore();
    const lifecycleId = newId();
    await collections.intents.insertOne(intentOf(principal, lifecycleId));
    expect(await useAsBefore(_id, lifecycleId)).toBe(true);
    const repeat = () => approvals.stage(heldCall(principal, { resumeToken }));
    await sweep();
    expect(await repeat()).toMatchObject({ reason: 'used' });
    const released = { used_at: null, used_by: null };
    const { matchedCount } = await collections.resume_tokens.updateOne(
      { approval_id: _id, used_by: lifecycleId },
      { $set: released },
    );
    expect(matchedCount).toBe(1);
    expect(await repeat()).toMatchObject({ outcome: 'resumed' });
  });

  test('gets its token back if the process is killed during the call that uses it', async () => {
    verifies('approval.upgrade', 'approval.token-returned');
    const { _id, principal, resumeToken } = await approvedBefore();
    const lifecycleId = newId();
    await useAsBefore(_id, lifecycleId);
    await collections.intents.insertOne({ ...intentOf(principal, lifecycleId), leased_until: new Date(0) });
    await sweepIntents({ collections, ...deps.governance, log: deps.log });
    expect(await approvals.read(principal, _id)).toMatchObject({ status: 'approved', resume_token: resumeToken });
  });

  test('is shown as used after its call, and its token is deleted', async () => {
    verifies('approval.upgrade', 'approval.used');
    const { _id, principal, resumeToken } = await approvedBefore();
    const lifecycleId = newId();
    await useAsBefore(_id, lifecycleId);
    await settleApproval(collections, { approvalId: _id, lifecycleId, completed: true });
    expect(await approvals.read(principal, _id)).toMatchObject({ status: 'used', used_by: lifecycleId });
    expect(await earlierToken(_id)).toBeNull();
    expect(await approvals.stage(heldCall(principal, { resumeToken }))).toMatchObject({ reason: 'used' });
  });

  test('ends the calls of its token when that expires unused, once, and those of a run that has ended', async () => {
    verifies('approval.upgrade', 'approval.token-unused');
    const expired = await approvedBefore();
    const ofRun = await approvedBefore(principalOf('MEMBER', { kind: 'execution', executionId: newId() }));
    const held = await Promise.all([expired, ofRun].map(heldLifecycle));
    await collections.resume_tokens.updateOne({ approval_id: expired._id }, { $set: { expires_at: 1 } });
    await Promise.all([sweep(), sweep(), sweep()]);
    await withdrawApprovals({ collections, audit, temporal: deps.temporal }, ofRun.principal.executionId ?? '');
    for (const [at, { _id, principal }] of [expired, ofRun].entries()) {
      expect(await collections.lifecycles.findOne({ _id: held[at] })).toMatchObject({ status: 'denied' });
      const { data } = await audit.list(principal.organizationId, { limit: 50, lifecycle_id: held[at] ?? '' });
      expect(data).toMatchObject([{ outcome: expect.stringContaining('denied') }]);
      expect(await useAsBefore(_id)).toBe(false);
      expect(await approvals.stage(heldCall(principal, { approvalId: _id }))).toMatchObject({ reason: 'expired' });
    }
  });

  test('keeps its token when a worker of 0.2.0 writes its record once more', async () => {
    verifies('approval.upgrade');
    const { _id, input, principal, resumeToken } = await approvedBefore();
    await collections.resume_tokens.updateOne({ approval_id: _id }, { $set: { expires_at: 1 } });
    await moveTokens(collections);
    const { _id: _same, ...record } = toApprovalDocument(input, approved, 2);
    const late = await collections.approvals.replaceOne({ _id, revision: { $lte: 2 } }, record);
    expect(late.matchedCount).toBe(0);
    expect(await approvals.stage(heldCall(principal, { resumeToken }))).toMatchObject({ reason: 'expired' });
  });

  test('with another token than its own is not permitted by that token', async () => {
    verifies('approval.upgrade', 'approval.token.ended');
    const { _id, principal, resumeToken } = await approvedBefore();
    const own = (await earlierToken(_id)) as EarlierToken;
    expect(own._id).toBe(sha256Hex(resumeToken));
    await collections.resume_tokens.updateOne({ _id: own._id }, { $set: { expires_at: 1 } });
    await moveTokens(collections);
    // An attempt of the activity that hung minted a second token after the first one had been moved.
    const other = `svc_rt_${'B'.repeat(43)}`;
    await collections.resume_tokens.insertOne({ ...own, _id: sha256Hex(other), expires_at: epochSeconds() + 600 });
    expect(await approvals.stage(heldCall(principal, { resumeToken: other }))).toMatchObject({ reason: 'unknown' });
    expect(await approvals.read(principal, _id)).not.toHaveProperty('resume_token');
  });
});

function intentOf({ userId: user_id, projectId: project_id, organizationId: organization_id }: Principal, _id: string) {
  const call = { tool: 'save-context', principal: { user_id, kind: 'api_key' as const }, actor: 'a', resource: 'r' };
  const leased_until = new Date(Date.now() + 60_000);
  return { _id, ...call, project_id, organization_id, trace_id: 't', created_at: epochSeconds(), leased_until };
}

/** Stores the lifecycle of a call that waits for this approval. */
async function heldLifecycle({ _id: approval_id, principal }: { _id: string; principal: Principal }): Promise<string> {
  const { leased_until: _lease, actor: _actor, resource: _resource, ...call } = intentOf(principal, newId());
  const ended = { status: 'pending_approval' as const, stages: [], ended_at: epochSeconds(), consumed: [] };
  await collections.lifecycles.insertOne({ ...call, ...ended, payload_digest: null, approval_id });
  return call._id;
}
