import { describe, expect, test } from '@jest/globals';
import type { Principal } from '../../src/auth/principal.js';
import { recordServiceRun } from '../../src/governance/service-record.js';
import { AppError } from '../../src/base/errors.js';
import type { AuditEvent } from '../../src/governance/audit/entry.js';
import { sweepApprovals } from '../../src/governance/approvals/sweep.js';
import type { PolicyRule } from '../../src/governance/policy/rule.js';
import { sweepIntents } from '../../src/governance/sweep.js';
import { newId } from '../../src/base/ids.js';
import { epochSeconds } from '../../src/base/time.js';
import { useDeps } from '../support/fixture.js';
import { colleagueOf, principalOf } from '../support/governance/approvals.js';
import { startHelper } from '../support/governance/fork.js';
import { kernelCall } from '../support/governance/kernel-call.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { governance, kernel } = deps;
const { collections } = deps.mongo;
const afterLease = () => Date.now() + 61_000;
const sweep = () => sweepIntents({ collections, ...governance, log: deps.log }, afterLease());

/** A caller whose save-model calls need an approval, with the token of an approved one. */
async function approved(): Promise<{ principal: Principal; approvalId: string; resumeToken: string; heldId: string }> {
  const principal = principalOf('MEMBER', { kind: 'api_key', keyId: newId() });
  const rules: PolicyRule[] = [
    { policy_id: 'all', description: '', effect: 'permit' },
    { policy_id: 'ask', description: '', effect: 'require_approval', tools: ['save-model'] },
  ];
  const admin = colleagueOf(principal);
  await governance.policies.replace(admin, rules);
  const held = await kernel.perform(
    kernelCall({ principal, run: () => Promise.reject(new Error('held calls do not run')) }),
  );
  if (!('ending' in held)) throw held.error;
  const { approval_id: approvalId } = held.ending.body as { approval_id: string };
  await governance.approvals.decide(admin, approvalId, { decision: 'approve' });
  const { resume_token: resumeToken = '' } = await governance.approvals.read(principal, approvalId);
  return { principal, approvalId, resumeToken, heldId: held.lifecycleId ?? '' };
}

const entriesOf = async ({ organizationId }: Principal, lifecycle_id: string) =>
  (await governance.audit.list(organizationId, { limit: 50, lifecycle_id })).data;

describe('a call whose process dies between its effect and its record', () => {
  test('gets its lifecycle and audit entry from a sweep once, and its resume token back', async () => {
    verifies('operation.intent', 'approval.token-returned');
    const { principal, approvalId, resumeToken } = await approved();
    const lifecycleId = newId();
    const env = { ...testRun().env, LOG_LEVEL: 'silent' };
    const helper = await startHelper('dying-call', { env, principal, lifecycleId, resumeToken });
    helper.go();
    await helper.ended;
    expect(await collections.project_models.findOne({ _id: principal.projectId })).toMatchObject({
      model: 'took effect',
    });
    expect(await collections.lifecycles.findOne({ _id: lifecycleId })).toBeNull();
    expect(await governance.approvals.read(principal, approvalId)).not.toHaveProperty('resume_token');

    // Several processes sweep concurrently.
    await Promise.all([sweep(), sweep(), sweep()]);
    expect(await collections.lifecycles.findOne({ _id: lifecycleId })).toMatchObject({
      status: 'failed',
      tool: 'save-model',
      stages: [{ stage: 'S8:execute', detail: expect.stringContaining('may have taken effect') }],
    });
    expect(await entriesOf(principal, lifecycleId)).toMatchObject([
      { action: 'save-model', outcome: 'failed: outcome unknown' },
    ]);
    expect(await collections.intents.findOne({ _id: lifecycleId })).toBeNull();
    expect(await governance.approvals.read(principal, approvalId)).toMatchObject({
      status: 'approved',
      resume_token: resumeToken,
    });
    expect(await governance.audit.verify(principal.organizationId)).toMatchObject({ valid: true });
  });

  test('gets its approval back, also if the caller has no resume token, like the console', async () => {
    verifies('operation.intent', 'approval.token-returned');
    const { principal, approvalId, resumeToken } = await approved();
    const lifecycleId = newId();
    await new Promise<void>((isRunning) => {
      const run = () => new Promise<never>(() => isRunning());
      void kernel.perform(kernelCall({ principal, lifecycleId, entrance: 'page', run }));
    });
    expect(await governance.approvals.read(principal, approvalId)).not.toHaveProperty('resume_token');
    await sweep();
    expect(await collections.lifecycles.findOne({ _id: lifecycleId })).toMatchObject({ status: 'failed' });
    expect(await governance.approvals.read(principal, approvalId)).toMatchObject({ resume_token: resumeToken });
  });

  test('between its lifecycle and its audit entry keeps the outcome that was recorded', async () => {
    verifies('operation.intent');
    const principal = principalOf();
    const performed = await kernel.perform(kernelCall({ principal, run: async () => ({ body: {} }) }));
    const lifecycleId = performed.lifecycleId ?? '';
    const stored = await collections.lifecycles.findOne({ _id: lifecycleId });
    const other = newId();
    await collections.lifecycles.insertOne({ ...stored, _id: other } as never);
    const intent = {
      _id: other,
      tool: 'save-model',
      principal: { user_id: 'u', kind: 'api_key' as const },
      actor: 'api_key:u',
      resource: 'model:m',
    };
    const place = {
      project_id: principal.projectId,
      organization_id: principal.organizationId,
      trace_id: 't',
      created_at: epochSeconds(),
    };
    await collections.intents.insertOne({ ...intent, ...place, leased_until: new Date() });
    await sweep();
    expect(await entriesOf(principal, other)).toMatchObject([{ outcome: 'completed' }]);
    expect(await collections.lifecycles.findOne({ _id: other })).toMatchObject({ status: 'completed' });
  });

  test.each([
    ['completed: answered', { status: 'completed', act: { outcome: 'answered' } }],
    ['denied: refused: used', { status: 'denied', act: { outcome: 'refused' } }],
    [undefined, { status: 'failed', act: { outcome: 'unknown' } }],
  ])('is an act whose audit entry says %s', async (outcome, expected) => {
    verifies('operation.intent', 'act.unknown');
    const { organizationId: organization_id, ...principal } = principalOf();
    const [_id, key] = [newId(), `${newId()}/agent/skill/call`];
    const call = { organization_id, actor: 'execution:u', resource: `act:${key}` };
    if (outcome !== undefined)
      await governance.audit.append({ ...call, at: epochSeconds(), action: 'act.http', outcome, lifecycle_id: _id });
    await collections.intents.insertOne({
      ...{
        _id,
        ...call,
        tool: 'act.http',
        principal: { user_id: 'u', kind: 'execution' },
        project_id: principal.projectId,
      },
      ...{ trace_id: 't', created_at: epochSeconds() - 1, leased_until: new Date() },
    });
    await sweep();
    expect(await collections.lifecycles.findOne({ _id })).toMatchObject(expected);
    expect(await collections.lifecycles.findOne({ _id })).toMatchObject({ act: { idempotency_key: key } });
    const { data } = await governance.audit.list(organization_id, { limit: 50, lifecycle_id: _id });
    expect(data.map((entry) => entry.outcome)).toEqual([outcome ?? 'failed: unknown']);
  });

  test('is ignored while its process is working', async () => {
    verifies('operation.intent');
    const principal = principalOf();
    let seen: unknown;
    const performed = await kernel.perform(
      kernelCall({
        principal,
        async run({ lifecycleId }) {
          seen = await collections.intents.findOne({ _id: lifecycleId });
          await sweepIntents({ collections, ...governance, log: deps.log });
          expect(await collections.intents.findOne({ _id: lifecycleId })).not.toBeNull();
          return { body: {} };
        },
      }),
    );
    expect(seen).toMatchObject({ tool: 'save-model', project_id: principal.projectId });
    expect(performed).toMatchObject({ ending: { status: 'completed' } });
  });
});

describe('a resume token', () => {
  test('can be used again if S8 did not complete, and the next attempt creates its record with the same id', async () => {
    verifies('approval.token-returned');
    const { principal, approvalId, resumeToken, heldId } = await approved();
    const recordIds: (string | undefined)[] = [];
    const attempt = (outcome: () => Promise<{ body: object }>) =>
      kernel.perform(
        kernelCall({ principal, resumeToken, run: ({ recordId }) => (recordIds.push(recordId), outcome()) }),
      );
    const down = await attempt(() => Promise.reject(new AppError('data_service_unreachable', 'Neo4j does not answer')));
    expect(down).toMatchObject({ error: { code: 'data_service_unreachable' } });
    expect(await collections.lifecycles.findOne({ _id: down.lifecycleId ?? '' })).toMatchObject({
      status: 'failed',
      approval_id: approvalId,
    });
    expect(await governance.approvals.read(principal, approvalId)).toMatchObject({
      status: 'approved',
      resume_token: resumeToken,
    });
    const done = await attempt(async () => ({ body: {} }));
    expect(done).toMatchObject({ ending: { status: 'completed' } });
    expect(new Set(recordIds).size).toBe(1);
    expect(recordIds).toHaveLength(2);
    expect(await governance.approvals.read(principal, approvalId)).toMatchObject({
      status: 'used',
      used_by: done.lifecycleId,
    });
    expect(await collections.lifecycles.findOne({ _id: heldId })).toMatchObject({
      status: 'completed',
      continued_by: done.lifecycleId,
    });
    expect(await attempt(async () => ({ body: {} }))).toMatchObject({
      error: { code: 'approval_refused', message: expect.stringContaining('the resume token was already used') },
    });
  });

  test('that expires unused ends the calls that wait for it, once', async () => {
    verifies('approval.token-unused');
    const { principal, approvalId, resumeToken, heldId } = await approved();
    const statusOf = async () => (await collections.lifecycles.findOne({ _id: heldId }))?.status;
    const sweeping = { collections, audit: governance.audit, temporal: deps.temporal, log: deps.log };
    const end = (at: number) => sweepApprovals(sweeping, at);
    await end(epochSeconds());
    expect(await statusOf()).toBe('pending_approval');

    const past = epochSeconds() - 1;
    await collections.approvals.updateOne({ _id: approvalId }, { $set: { 'token.expires_at': past, due_at: past } });
    // Another process has died while it ended the calls, after it had appended the entry.
    const dead = {
      ...sweeping,
      audit: {
        ...governance.audit,
        async append(event: AuditEvent) {
          await governance.audit.append(event);
          throw new Error('the process died');
        },
      },
    };
    await sweepApprovals(dead);
    expect(await statusOf()).toBe('pending_approval');
    const later = epochSeconds() + 61;
    await Promise.all([end(later), end(later), end(later)]);
    expect(await statusOf()).toBe('denied');
    expect(
      (await entriesOf(principal, heldId)).map(({ actor, resource, outcome }) => ({ actor, resource, outcome })),
    ).toEqual([
      {
        actor: `api_key:${principal.userId}:${principal.keyId}`,
        resource: `approval:${approvalId}`,
        outcome: 'denied: the approval expired before it was used',
      },
      expect.objectContaining({ outcome: 'pending_approval' }),
    ]);
    const late = await kernel.perform(kernelCall({ principal, resumeToken, run: async () => ({ body: {} }) }));
    expect(late).toMatchObject({ error: { code: 'approval_refused', message: expect.stringContaining('expired') } });
  });

  test('lets one of several concurrent calls pass while that call is working', async () => {
    verifies('approval.token.once');
    const { principal, resumeToken } = await approved();
    const calls = await Promise.all(
      Array.from({ length: 10 }, () =>
        kernel.perform(kernelCall({ principal, resumeToken, run: async () => ({ body: {} }) })),
      ),
    );
    expect(calls.filter((call) => 'ending' in call)).toHaveLength(1);
  });
});

describe('a repeated recording of a service run', () => {
  test('finds its entry without reading the chain before it', async () => {
    verifies('audit.repeated-recording');
    const organization_id = newId();
    const old = epochSeconds() - 7200;
    for (let at = 0; at < 300; at += 1) {
      await governance.audit.append({
        organization_id,
        at: old,
        actor: 'a',
        action: 'b',
        resource: 'c',
        outcome: 'd',
        lifecycle_id: null,
      });
    }
    const read: unknown[] = [];
    const since = (organizationId: string, call: { lifecycle_id: string; since: number }) => (
      read.push(call.since),
      governance.audit.entrySince(organizationId, call)
    );
    const audit = { append: governance.audit.append, entrySince: since };
    const recorder = { mongo: { collections }, governance: { audit } };
    const at = epochSeconds();
    const run = { lifecycle_id: newId(), project_id: newId(), organization_id, resource: 'repository:r' };
    const outcome = { failed: false, detail: '', started_at: at };
    await recordServiceRun(recorder, 'code-sync', run, outcome);
    await recordServiceRun(recorder, 'code-sync', run, outcome);
    const stored = await collections.lifecycles.findOne({ _id: run.lifecycle_id });
    expect(read).toEqual([stored?.ended_at]);
    expect(stored?.ended_at).toBeGreaterThanOrEqual(at);
    expect(
      (await governance.audit.list(organization_id, { limit: 50, lifecycle_id: run.lifecycle_id })).data,
    ).toHaveLength(1);
  });
});
