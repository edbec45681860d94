import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { sha256Hex } from '../../src/base/hash.js';
import { creditsLeft } from '../../src/domain/customers/record.js';
import { readCustomer } from '../../src/domain/customers/operations/account.js';
import { recordApproval } from '../../src/governance/approvals/publish.js';
import { redeemResumeToken } from '../../src/governance/approvals/redeem.js';
import { toApprovalDocument } from '../../src/governance/approvals/record.js';
import { resumeTokens, sealedFor } from '../../src/governance/approvals/resume-token.js';
import { PolicyRule } from '../../src/governance/policy/rule.js';
import { createPolicyStore } from '../../src/governance/policy/store.js';
import { createQuota } from '../../src/governance/quota/quota.js';
import { epochSeconds } from '../../src/base/time.js';
import { createCodes } from '../../src/auth/oauth/codes.js';
import type { ApprovalInput } from '../../workflows/approval/messages.js';
import { untilAvailable } from '../support/client.js';
import { createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { createTestChain, eventOf } from '../support/governance/chains.js';
import { agent, hold, principalOf } from '../support/governance/approvals.js';
import { ownProduct } from '../support/own-product.js';
import type { Api } from '../support/processes.js';
import { startReplicaSet } from '../support/replica-set.js';
import { testRun } from '../support/run.js';
import { everyFaultOf, faults, persist, to } from '../support/store-faults.js';
import { createTable } from '../support/tables.js';
import { catalog } from '../../src/catalog.js';
import { verifies } from '../support/verifies.js';

const uri = testRun().env.MONGODB_URI ?? '';
const members = await startReplicaSet(uri);
const overrides = { MONGODB_URI: members.uri(new URL(uri).pathname.slice(1)) };
/** The product through the replica set, and direct access to the stored data. */
const deps = useDeps(overrides);
const direct = useDeps().mongo.collections;
const product = ownProduct(overrides);
const { collections } = deps.mongo;
let api: Api;

beforeAll(async () => {
  api = await product.api();
});
afterAll(() => members.close());

const withEveryFault = everyFaultOf(members);

describe('audit chain', () => {
  test('contains every acknowledged entry once and verifies', async () => {
    verifies('store.failover.exact', 'store.audit-chain.failover');
    const { organizationId, audit, stored } = await createTestChain(deps);
    const acknowledged: string[] = [];
    await withEveryFault(to('insert', /^audit_entries$/), async () => {
      const event = eventOf(organizationId, 1);
      await persist(() => audit.append(event));
      acknowledged.push(event.lifecycle_id);
    });
    const entries = (await stored()).map(({ lifecycle_id }) => lifecycle_id ?? '');
    expect([...new Set(entries)]).toEqual(acknowledged);
    // A repeat of an append that was answered 503 is another append, like another call.
    expect(entries.length - acknowledged.length).toBeLessThanOrEqual(faults.length);
    expect(await audit.verify(organizationId)).toMatchObject({ valid: true, entries: entries.length });
  });
});

describe('policies', () => {
  test('enforce an acknowledged version in every process, and store each version once', async () => {
    verifies('store.failover.exact', 'store.policies.failover');
    const organization_id = newId();
    const [writer, reader] = [createPolicyStore(collections, catalog), createPolicyStore(collections, catalog)];
    await withEveryFault(to('insert', /^policy_versions$/), async () => {
      const version = ((await writer.latest(organization_id))?.version ?? 0) + 1;
      const policies = [PolicyRule.parse({ policy_id: `version-${version}`, effect: 'forbid' })];
      const record = { organization_id, version, policies, created_by: 'user', created_at: 1 };
      await persist(async () => {
        // A write whose answer was lost is found by reading, as the 409 requests.
        if ((await writer.latest(organization_id))?.version !== version) await writer.append(record);
      });
      expect([...(await reader.current(organization_id)).rules.keys()]).toContain(`version-${version}`);
    });
    const versions = await direct.policy_versions.find({ organization_id }).toArray();
    expect(versions.map(({ version }) => version).sort((a, b) => a - b)).toEqual(faults.map((_fault, at) => at + 1));
  });
});

describe('tokens', () => {
  test('a refresh token has one child under any fault of its rotation, and a revoked session stays revoked', async () => {
    verifies('store.failover.exact');
    const { sessions } = deps.auth;
    await withEveryFault(to('insert', /^refresh_tokens$/), async () => {
      const { value: session } = await persist(() =>
        sessions.start({ kind: 'session', user_id: newId(), project_id: newId() }),
      );
      const { value: first } = await persist(() => sessions.issueRefreshToken(session));
      const { value: second } = await persist(() => sessions.rotate(first, epochSeconds()));
      expect((await sessions.rotate(first, epochSeconds())).refreshToken).toBe(second.refreshToken);
      expect(await sessions.isLive(session._id)).toBe(true);
    });
    await withEveryFault(to('update', /^sessions$/), async () => {
      const session = await sessions.start({ kind: 'session', user_id: newId(), project_id: newId() });
      await persist(() => sessions.revoke(session._id, 'test'));
      expect(await sessions.isLive(session._id)).toBe(false);
    });
  });

  test('an authorization code opens exactly one grant', async () => {
    verifies('store.failover.exact');
    const codes = createCodes(collections);
    const place = {
      role: 'OWNER',
      organization_id: newId(),
      department_id: newId(),
      redirect_uri: 'https://client.test',
      code_challenge: 'c',
    };
    for (const written of [/^oauth_codes$/, /^oauth_grants$/]) {
      await withEveryFault(to('insert', written), async () => {
        const grant = {
          client_id: newId(),
          user_id: newId(),
          project_id: newId(),
          scopes: [],
          resource: 'https://service.test',
        };
        const { value: code } = await persist(() => codes.issue({ ...place, grant }));
        const found = await codes.find(code);
        const opened: unknown[] = [];
        await persist(async () => opened.push(await deps.oauth.grants.open(found!.grant)));
        opened.push(await deps.oauth.grants.open(found!.grant));
        expect(opened.filter((token) => token !== undefined).length).toBeLessThanOrEqual(1);
        expect(await direct.oauth_grants.countDocuments({ _id: found!.grant._id })).toBe(1);
      });
    }
  });

  test('a resume token lets exactly one call pass', async () => {
    verifies('store.failover.exact');
    await withEveryFault(to('update', /^approvals$/), async () => {
      const { token, call } = await resumeTokenFor();
      const passed: boolean[] = [];
      await persist(async () =>
        passed.push(
          typeof (await redeemResumeToken(collections, { ...call, token, lifecycleId: newId() })) === 'object',
        ),
      );
      passed.push(typeof (await redeemResumeToken(collections, { ...call, token, lifecycleId: newId() })) === 'object');
      expect(passed.filter(Boolean).length).toBeLessThanOrEqual(1);
      if (passed.length === 2)
        expect((await direct.approvals.findOne({ 'token.digest': sha256Hex(token) }))?.token?.used_at).not.toBeNull();
    });
  });
});

async function resumeTokenFor() {
  const token = resumeTokens.create();
  const call = {
    caller: 'c',
    projectId: newId(),
    tool: 'save-context',
    payloadDigest: 'd',
    policyVersion: 1,
    policyIds: ['p'],
    approvers: 1,
    now: epochSeconds(),
  };
  const input = { ...approvalInput(), project_id: call.projectId };
  await direct.approvals.insertOne({
    ...toApprovalDocument(input, approved, 1),
    // The sweep of the product ends expired tokens.
    token: { digest: sha256Hex(token), sealed: '', used_at: null, used_by: null, expires_at: call.now + 600 },
  });
  return { token, call };
}

describe('approvals', () => {
  test('give an approved call exactly one resume token, which its record shows', async () => {
    verifies('store.failover.exact');
    const { audit } = deps.governance;
    const record = (input: ApprovalInput) =>
      recordApproval({ collections, audit, secrets: deps.auth.box }, { input, state: approved, revision: 1 });
    await withEveryFault(to('update', /^approvals$/), async () => {
      const input = approvalInput();
      await persist(() => record(input));
      const stored = await direct.approvals.findOne({ _id: input.approval_id });
      expect(stored).toMatchObject({ status: 'approved', revision: 1 });
      const { sealed = '', digest } = stored?.token ?? {};
      expect(sha256Hex(deps.auth.box.open(sealed, sealedFor(input.approval_id)))).toBe(digest);
      await record(input);
      expect(await direct.approvals.findOne({ _id: input.approval_id })).toEqual(stored);
    });
  });

  test('are requested once for a call that is repeated until it is answered', async () => {
    verifies('store.failover.exact', 'approval.pending');
    for (const collection of [/^approvals$/, /^approval_payloads$/]) {
      await withEveryFault(to('insert', collection), async () => {
        const principal = agent();
        const { value } = await persist(() => hold(deps.governance.approvals, principal));
        const stored = await direct.approvals.find({ project_id: principal.projectId }).toArray();
        expect(stored).toMatchObject([{ _id: value.approval_id, status: 'pending' }]);
        expect(await direct.approval_payloads.findOne({ _id: value.approval_id })).not.toBeNull();
      });
    }
  });
});

const approved = { status: 'approved' as const, votes: [], decided_by: 'a', decided_at: epochSeconds() };

function approvalInput(): ApprovalInput {
  return {
    ...{
      approval_id: newId(),
      organization_id: newId(),
      project_id: newId(),
      lifecycle_id: newId(),
      tool: 'save-context',
      requested_by: 'u',
      caller: 'c',
    },
    ...{
      reason: '',
      policy_ids: ['p'],
      policy_version: 1,
      payload_digest: 'd',
      required_approvers: 1,
      created_at: 1,
      expires_at: 3,
      token_ttl_seconds: 60,
    },
  };
}

describe('quotas', () => {
  test('count an admitted call once even if the driver repeats the write, and never admit more than the maximum', async () => {
    verifies('store.failover.exact');
    const quota = createQuota({ collections, projectMax: 20, organizationMax: 20, windowSeconds: 3600 });
    const subject = { organizationId: newId(), projectId: newId() };
    await quota.admit(subject);
    let [admitted, tries] = [1, 1];
    await withEveryFault(to('update', /^quotas$/), async () => {
      const { value, tries: asked } = await persist(() => quota.admit(subject));
      if (value.admitted) admitted += 1;
      tries += asked;
      const { project_window_used: used } = await quota.usage(subject);
      expect(used).toBeGreaterThanOrEqual(admitted);
      expect(used).toBeLessThanOrEqual(tries);
    });
    // A lost answer has no effect: the driver's repeat is recognised.
    const before = (await quota.usage(subject)).project_window_used;
    void members.fault(to('update', /^quotas$/), 'cut_after');
    expect(await quota.admit(subject)).toEqual({ admitted: true });
    expect((await quota.usage(subject)).project_window_used).toBe(before + 1);
  });
});

describe('Idempotency-Key', () => {
  test('returns the same answer to a repeat after any fault, and creates the record once', async () => {
    verifies('store.failover.exact');
    const principal = principalOf();
    for (const fits of [to('insert', /^idempotency$/), to('update', /^idempotency$/)]) {
      await withEveryFault(fits, async () => {
        const request = { key: newId(), route: 'POST /thing', principal, body: {} };
        const made = new Set<string>();
        const once = () =>
          deps.idempotency.once(request, async (recordId) => ({ value: { id: [...made.add(recordId)][0] } }));
        const { value } = await persist(once);
        expect(await once()).toEqual(value);
        expect(made.size).toBe(1);
      });
    }
  });

  test('applies POST /agentflow once through an API process that loses its primary', async () => {
    verifies('store.failover.exact');
    const workspace = await throughApi();
    await withEveryFault(to('insert', /^agentflows$/), async () => {
      const name = `flow-${newId()}`;
      const send = () =>
        workspace.api.post(`/agentflow?projectID=${workspace.projectID}`, { name }, { 'idempotency-key': name });
      const made = await untilAvailable(send);
      expect(made).toMatchObject({ status: 201 });
      expect((await send()).body).toEqual(made.body);
      expect(await direct.agentflows.countDocuments({ name })).toBe(1);
    });
  });
});

async function throughApi(): Promise<Workspace> {
  return product.through(api, await createWorkspace(deps));
}

describe('rows of a table', () => {
  test('contain an acknowledged insert once, and row ids have no gap', async () => {
    verifies('store.failover.exact');
    const table = await createTable(await throughApi());
    for (const fits of [to('update', /^tables$/), to('insert', /^table_/)]) {
      await withEveryFault(fits, async () => {
        const key = newId();
        const made = await untilAvailable(() => table.insert({}, { 'idempotency-key': key }));
        expect(made).toMatchObject({ status: 201 });
      });
    }
    const { data, total_count } = await table.records();
    expect(total_count).toBe(2 * faults.length);
    expect(data.map(({ row_id }: { row_id: number }) => row_id)).toEqual(
      data.map((_row: unknown, at: number) => 2 * faults.length - at),
    );
  });
});

describe('credits', () => {
  test('count a charge once, whichever write the fault affects', async () => {
    verifies('store.failover.exact');
    for (const fits of [
      to('insert', /^credit_history$/),
      to('update', /^customers$/),
      to('update', /^credit_history$/),
    ]) {
      const organization = newId();
      const before = creditsLeft(await readCustomer(collections, organization)).subscription_credits;
      await withEveryFault(fits, async () => {
        const key = newId();
        const charge = { key, projectId: 'p', executionId: key, agentflowId: 'a', credits: 1, turns: null };
        await persist(() => deps.customers.charge(organization, [charge]));
      });
      expect(creditsLeft(await readCustomer(collections, organization)).subscription_credits).toBe(
        before - faults.length,
      );
      expect(await direct.credit_history.countDocuments({ organization_id: organization, applied: true })).toBe(
        faults.length,
      );
    }
  });
});

describe('concerns', () => {
  test('every write requires a majority and has a time limit, and decisive reads have majority concern', async () => {
    verifies('store.concerns');
    const own = members.sent.filter(({ body }) => body.$db === new URL(uri).pathname.slice(1));
    const writes = own.filter(({ name }) => /^(insert|update|findAndModify|createIndexes)$/.test(name));
    expect(new Set(writes.map(({ name }) => name))).toEqual(
      new Set(['insert', 'update', 'findAndModify', 'createIndexes']),
    );
    for (const { body } of writes) expect(body.writeConcern).toEqual({ w: 'majority', j: true, wtimeout: 10_000 });
    const levels = new Map<string, Set<unknown>>();
    for (const { name, collection, body } of own) {
      if (name === 'find') levels.set(collection, (levels.get(collection) ?? new Set()).add(body.readConcern?.level));
    }
    for (const collection of [
      'audit_entries',
      'policy_versions',
      'sessions',
      'refresh_tokens',
      'oauth_codes',
      'approvals',
      'api_keys',
      'idempotency',
      'customer_places',
    ]) {
      expect([collection, ...(levels.get(collection) ?? [])]).toEqual([collection, 'majority']);
    }
    expect([...(levels.get('customers') ?? [])]).toEqual([undefined]);
  });
});
