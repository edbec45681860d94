import { describe, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { readCallAction } from '../../src/governance/approvals/readings.js';
import { agent, colleagueOf, hold, useApprovals } from '../support/governance/approvals.js';
import { verifies } from '../support/verifies.js';

const { deps, approvals, api } = useApprovals();

const secret = 'svc_sk_0123456789abcdefghijklmnop';
const iban = 'DE89370400440532013000';
const call = {
  to: ['ada@nordic.example'],
  bcc: ['eve@elsewhere.example'],
  account: iban,
  amount: 120,
  currency: 'EUR',
  url: 'https://bank.example/pay',
  text: `Dear Ada. ${'x'.repeat(9000)} the end`,
};

async function held(input: Record<string, unknown>) {
  const caller = agent();
  const { approval_id: id } = await hold(approvals, caller, {
    payloadDigest: newId(),
    forApprovers: async () => ({ input }),
    summary: { title: 'Pay refund', fields: input },
  });
  return { caller, id, owner: colleagueOf(caller, 'OWNER', { kind: 'session', keyId: undefined }) };
}

describe('the call that an approval shows', () => {
  test.each([
    ['to', ['mallory@nordic.example']],
    ['bcc', ['mallory@elsewhere.example']],
    ['account', 'GB82WEST12345698765432'],
    ['amount', 121],
    ['url', 'https://bonk.example/pay'],
    ['text', `${call.text}!`],
  ])('shows people a call that differs only in %s as another call', async (field, value) => {
    verifies('approval.whole-call');
    const [one, other] = [await held(call), await held({ ...call, [field]: value })];
    const [first, second] = [
      await approvals.readWithCall(one.owner, one.id),
      await approvals.readWithCall(other.owner, other.id),
    ];
    expect(first.payload).toEqual({ input: call });
    expect(second.payload).toEqual({ input: { ...call, [field]: value } });
    expect(second.summary).not.toBe(first.summary);
    expect(first.payload_view).toEqual({ is_redacted: false, has_hidden: false, is_shortened: false });
  });

  test.each(Object.keys(call))('hides a secret in %s from everybody, and says so', async (field) => {
    verifies('approval.whole-call');
    const { caller, owner, id } = await held({ ...call, [field]: `Bearer ${secret}` });
    const key = colleagueOf(caller, 'OWNER', { kind: 'api_key', keyId: newId(), grants: ['svc:governance.read'] });
    for (const reader of [owner, key]) {
      const shown = await approvals.readWithCall(reader, id);
      expect(JSON.stringify(shown)).not.toContain(secret);
      expect(shown.payload_view).toMatchObject({ has_hidden: true });
    }
    await expect(approvals.decide(owner, id, { decision: 'approve' })).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });

  test('is redacted for keys, OAuth clients and MCP, like its summary', async () => {
    verifies('approval.whole-call');
    const { caller, owner, id } = await held(call);
    const grants = ['svc:governance.read', 'svc:governance.write'] as const;
    const key = colleagueOf(caller, 'OWNER', { kind: 'api_key', keyId: newId(), grants: [...grants] });
    const shown = [await approvals.readWithCall(key, id), await approvals.readWithCall(owner, id, 'client')];
    const client = { ...owner, clientId: 'https://app.example/client.json' };
    for (const each of [...shown, await approvals.readWithCall(client, id).catch(() => undefined)]) {
      const text = JSON.stringify(each ?? {});
      for (const part of ['ada@nordic', 'eve@elsewhere', iban]) expect(text).not.toContain(part);
    }
    expect(shown[0]).toMatchObject({ payload_view: { is_redacted: true, has_hidden: true, is_shortened: true } });
  });

  test('is audited when a person reads it, once in a short time, and not when a program reads it', async () => {
    verifies('approval.reading-audited');
    const { caller, owner, id } = await held(call);
    const auditor = colleagueOf(caller, 'ORG_ADMIN', { kind: 'session', keyId: undefined });
    await approvals.readWithCall(owner, id, 'client');
    for (const reader of [owner, owner, auditor]) await approvals.readWithCall(reader, id);
    const { audit_entries } = deps.mongo.collections;
    const entries = await audit_entries.find({ resource: `approval:${id}` }).toArray();
    const readings = entries.filter(({ action }) => action === readCallAction);
    expect(readings.map(({ resource }) => resource)).toEqual([`approval:${id}`, `approval:${id}`]);
    expect(readings.map(({ actor }) => actor).sort()).toEqual(
      [`session:${owner.userId}`, `session:${auditor.userId}`].sort(),
    );
  });

  test.each(['approve', 'reject'] as const)('is kept after the decision %s', async (decision) => {
    verifies('approval.call-kept');
    const { owner, id } = await held(call);
    const { payload_digest } = await approvals.read(owner, id);
    const answer = await api
      .as(owner)
      .post(`/v1/approvals/${id}/${decision}`, decision === 'approve' ? { payload_digest } : {});
    expect(answer).toMatchObject({ status: 200, body: { may_see_payload: true } });
    expect(await approvals.readWithCall(owner, id)).toMatchObject({
      payload: { input: call },
      summary: answer.body.summary,
    });
  });
});
