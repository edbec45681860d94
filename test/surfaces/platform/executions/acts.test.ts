import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { ask, decide, heldApproval, permit, useActs } from '../../../support/acts.js';
import { outputsOf } from '../../../support/connectors.js';
import { eventually } from '../../../support/eventually.js';
import { closedAs, moveExecution, startExecution, untilExecution } from '../../../support/executions.js';
import type { ApiClient } from '../../../support/client.js';
import { personOf } from '../../../support/fixture.js';
import { connectorOf, flowOf } from '../../../support/connectors.js';
import { actionTo } from '../../../support/flows.js';
import { verifies } from '../../../support/verifies.js';

const { deps, sink, governed, lifecyclesOf, auditOf, outcomesOf } = await useActs();

describe('an act of an agent', () => {
  test('is made if the rules permit it, and leaves a lifecycle and an audit entry', async () => {
    verifies('act.permit', 'act.facts', 'act.facts.credits');
    const of = await governed({
      policy_id: 'only-this',
      effect: 'forbid',
      tools: ['act.http'],
      when: `!(context.input.host == "${new URL(sink.url).host}" && context.input.method == "POST" && context.input.started_by == "person" && context.input.agent_id == "agent_1" && context.input.category == "restful" && context.input.path like "*/one" && principal.kind == "execution" && context.channel == "agent" && !context.input.read_only && context.input.credits_spent == 1)`,
    });
    const id = await of.start('one');
    await untilExecution(of.workspace, id, 'completed');
    expect(of.seen()).toBe(1);
    const key = `${id}/agent_1/skill_1/action_1`;
    expect(await lifecyclesOf(of)).toMatchObject([
      {
        status: 'completed',
        principal: { kind: 'execution', user_id: of.workspace.userId, execution_id: id },
        act: { idempotency_key: key, outcome: 'answered' },
      },
    ]);
    expect(await auditOf(of)).toEqual([
      { actor: `execution:${of.workspace.userId}:${id}`, resource: `act:${key}`, outcome: 'completed: answered' },
    ]);
  });

  test('is not made if a rule forbids it: the agent receives the refusal, and the run continues', async () => {
    verifies('act.forbid');
    const of = await governed({
      policy_id: 'no-two',
      description: 'Nobody calls two.',
      effect: 'forbid',
      tools: ['act.http'],
      when: 'context.input.path like "*/two"',
    });
    const id = await of.start('one', 'two', 'three');
    const ended = await untilExecution(of.workspace, id, 'completed');
    expect([of.seen('one'), of.seen('two'), of.seen('three')]).toEqual([1, 0, 1]);
    const refusal = { code: 'policy_denied', message: 'Nobody calls two. (no-two)' };
    expect(outputsOf(ended)[1]).toEqual({ error: refusal });
    const { body } = await of.workspace.api.get(`/execute_flow/${id}/monitoring`);
    expect(body.steps[1]).toMatchObject({ status: 'failed', error: `policy_denied: ${refusal.message}` });
    expect(await outcomesOf(of)).toEqual(['completed: answered', 'denied: refused', 'completed: answered']);
  });

  test('does not follow a redirect to an address that the rules forbid, or that needs another approval', async () => {
    verifies('act.forbid.redirect');
    const of = await governed(
      {
        ...{ policy_id: 'no-keys', description: 'Nobody reads keys.', effect: 'forbid', tools: ['act.http'] },
        when: 'context.input.path like "*/keys"',
      },
      { ...ask, when: 'context.input.path like "*/asked*"' },
    );
    const at = (name: string) => `${sink.url}${of.prefix}/${name}`;
    const hops: [from: string, to: string][] = [
      ['first', 'keys'],
      ['second', 'asked-other'],
      ['asked-start', 'asked-end'],
    ];
    for (const [from, to] of hops)
      sink.answer(`${of.prefix}/${from}`, (_, res) => res.writeHead(302, { location: at(to) }).end());
    const actions = hops.map(([from], n) => ({
      ...actionTo(at(from), `a${n}`, n + 1 < hops.length ? `a${n + 1}` : null),
      method: 'GET',
    }));
    const id = await startExecution(of.workspace, flowOf(null, ...actions));
    await decide(of.approver, await heldApproval(of, id), 'approve');
    const ended = await untilExecution(of.workspace, id, 'completed');
    expect(hops.flat().map(of.seen)).toEqual([1, 0, 1, 0, 1, 1]);
    const { host } = new URL(sink.url);
    expect(outputsOf(ended)).toMatchObject([
      { error: { code: 'policy_denied', message: `a redirect to ${host}: Nobody reads keys. (no-keys)` } },
      { error: { code: 'policy_denied', message: `a redirect to ${host}: Posts are looked at. (ask)` } },
      { ok: true },
    ]);
    expect(await outcomesOf(of)).toEqual([
      'denied: answered',
      'denied: answered',
      'pending_approval: held',
      'completed: answered',
    ]);
  });
});

test('an act can be decided again by candidate rules, but not with rules on the texts of its call, which are not stored', async () => {
  verifies('policy.simulate', 'policy.simulate.never-guesses');
  const of = await governed();
  await untilExecution(of.workspace, await of.start('one'), 'completed');
  const tried = async (when: string) => {
    const rule = { policy_id: 'no', effect: 'forbid', tools: ['act.http'], when };
    return (await of.approver.post('/v1/policies/simulate', { operation: 'act.http', policies: [permit, rule] })).body;
  };
  const ours = `context.input.host == "${new URL(sink.url).host}" && context.input.started_by == "person" && principal.kind == "execution"`;
  expect(await tried(ours)).toMatchObject({ evaluated: 1, transitions: [{ from: 'permit', to: 'forbid', count: 1 }] });
  expect(await tried(`!(${ours})`)).toMatchObject({ evaluated: 1, unchanged: 1 });
  expect(await tried('context.input.path like "*/one"')).toMatchObject({
    ...{ evaluated: 0, skipped: [{ reason: 'facts_not_recorded', count: 1 }] },
  });
});

describe('an act that a rule holds', () => {
  test('waits, is shown to its approvers, and is made once after the approval', async () => {
    verifies('act.hold', 'act.hold.starter');
    const of = await governed(ask);
    const id = await of.start('one');
    const approval = await heldApproval(of, id);
    const { body: monitoring } = await of.workspace.api.get(`/execute_flow/${id}/monitoring`);
    expect(monitoring.steps).toMatchObject([{ status: 'waiting' }]);
    await eventually(async () => {
      const query = `ProjectId = '${of.workspace.projectID}' AND AgentflowStatus = 'waiting'`;
      expect(await deps.temporal.client.workflow.count(query)).toMatchObject({ count: 1 });
    });
    await eventually(async () => {
      const { body } = await of.approver.get(`/inbox?projectID=${of.workspace.projectID}`);
      const call = {
        input: { call: { method: 'POST', url: `${sink.url}${of.prefix}/one` } },
        about: { agent: 'Agent agent_1' },
      };
      expect(body.data).toMatchObject([{ kind: 'approval', execution_id: id, approval_id: approval, body: { call } }]);
    });
    const starter = await personOf(deps, of.workspace);
    expect(await decide(starter, approval, 'approve')).toMatchObject({ status: 403 });
    expect(of.seen()).toBe(0);
    const { body: audit } = await of.approver.get(`/v1/audit?resource=approval:${approval}`);
    expect(audit.data).toMatchObject([
      {
        action: 'approval.decide',
        actor: `user_jwt:${of.workspace.userId}`,
        outcome: expect.stringMatching(/^denied/),
      },
    ]);
    expect(await decide(of.approver, approval, 'approve')).toMatchObject({ status: 200 });
    const ended = await untilExecution(of.workspace, id, 'completed');
    expect(ended.execution_context.waiting_for).toBeNull();
    expect(of.seen()).toBe(1);
    expect(outputsOf(ended)).toMatchObject([{ ok: true }]);
    expect(await of.approver.get(`/v1/approvals/${approval}`)).toMatchObject({
      body: { status: 'used', execution_id: id },
    });
    expect(await outcomesOf(of)).toEqual(['pending_approval: held', 'completed: answered']);
    const shown = await (await personOf(deps, of.workspace)).get(`/v1/approvals/${approval}`);
    expect(shown.body).not.toHaveProperty('resume_token');
  });

  test('is refused with the reason of its rejection, which the agent receives', async () => {
    verifies('act.hold.reject');
    const of = await governed(ask);
    const id = await of.start('one');
    const approval = await heldApproval(of, id);
    await decide(of.approver, approval, 'reject', 'Not on a Sunday');
    const ended = await untilExecution(of.workspace, id, 'completed');
    expect(of.seen()).toBe(0);
    expect(outputsOf(ended)).toEqual([{ error: { code: 'approval_rejected', message: 'Not on a Sunday' } }]);
    expect((await auditOf(of)).at(-1)).toMatchObject({ outcome: 'denied: refused: rejected' });
  });

  test('is refused if nobody decides in time', async () => {
    verifies('act.hold.expiry');
    const of = await governed({ ...ask, approval_ttl_seconds: 1 });
    const id = await of.start('one');
    const ended = await untilExecution(of.workspace, id, 'completed');
    expect(of.seen()).toBe(0);
    expect(outputsOf(ended)).toMatchObject([{ error: { code: 'approval_expired' } }]);
  });

  test('can be decided by the person who started the run if the rule allows it', async () => {
    verifies('act.hold.starter');
    const of = await governed({ ...ask, starter_may_decide: true });
    const id = await of.start('one');
    const approval = await heldApproval(of, id);
    const starter = await personOf(deps, of.workspace);
    expect(await decide(starter, approval, 'approve')).toMatchObject({ status: 200 });
    await untilExecution(of.workspace, id, 'completed');
    expect(of.seen()).toBe(1);
  });

  test('reports to each reader whether they may decide, and why not', async () => {
    verifies('act.may-decide');
    const of = await governed({ ...ask, approvers: 2, approver_roles: ['OWNER', 'ORG_ADMIN'] });
    const id = await of.start('one');
    const approval = await heldApproval(of, id);
    const person = (role: string) => personOf(deps, of.workspace, { userId: newId(), role });
    const [starter, owner, admin] = [
      await personOf(deps, of.workspace),
      await person('OWNER'),
      await person('PROJECT_ADMIN'),
    ];
    const project = `projectID=${of.workspace.projectID}`;
    const expected = async (api: ApiClient, reason: string | null) => {
      const told = { may_decide: reason === null, may_not_decide_reason: reason };
      expect(await api.get(`/v1/approvals/${approval}`)).toMatchObject({ body: told });
      expect((await api.get('/v1/approvals')).body.data).toMatchObject([told]);
      const { body } = await api.get(`/inbox?${project}`);
      if (body.data.length > 0) expect(body.data).toMatchObject([told]);
    };
    await expected(of.approver, null);
    await expected(starter, 'nobody decides on their own request');
    await expected(admin, 'only a person with the role OWNER or ORG_ADMIN in this project decides');
    expect(await decide(of.approver, approval, 'approve')).toMatchObject({
      body: { status: 'pending', may_decide: false, may_not_decide_reason: expect.stringContaining('another person') },
    });
    await expected(owner, null);
    await decide(owner, approval, 'reject');
    await expected(owner, 'the approval is rejected');
    await untilExecution(of.workspace, id, 'completed');
  });

  test('does not use an approval of another policy version: it requests another one, and the refusal is audited', async () => {
    verifies('act.hold.changed');
    const of = await governed(ask);
    const id = await of.start('one');
    const first = await heldApproval(of, id);
    await of.policies(permit, { ...ask, description: 'Changed.' });
    await decide(of.approver, first, 'approve');
    const second = await heldApproval(of, id, first);
    expect(of.seen()).toBe(0);
    await decide(of.approver, second, 'approve');
    await untilExecution(of.workspace, id, 'completed');
    expect(of.seen()).toBe(1);
    expect(await outcomesOf(of)).toEqual([
      'pending_approval: held',
      'denied: refused: other_policy_version',
      'pending_approval: held',
      'completed: answered',
    ]);
    // No held call is left that waits for the first approval.
    const statuses = (await lifecyclesOf(of)).map(({ status }) => status);
    expect(statuses).toEqual(['denied', 'denied', 'completed', 'completed']);
  });

  test('does not use an approval of another call: one changed byte of the address requests another one, and is audited', async () => {
    verifies('act.hold.changed');
    const of = await governed(ask);
    const { api, projectID } = of.workspace;
    const base = (end: string) => ({ base_url: `${sink.url}${of.prefix}/${end}` });
    const { _id } = await connectorOf(of.workspace, 'restful', base('a'));
    const id = await startExecution(of.workspace, flowOf(_id, { ...actionTo('/one'), method: 'POST' }));
    const first = await heldApproval(of, id);
    expect(await api.patch(`/connectors/${projectID}/${_id}`, { config: base('b') })).toMatchObject({ status: 200 });
    await decide(of.approver, first, 'approve');
    const second = await heldApproval(of, id, first);
    expect(of.seen()).toBe(0);
    const [before, after] = [first, second].map((one) => of.approver.get(`/v1/approvals/${one}`));
    expect((await after)?.body.payload.input.call.url).toBe(`${base('b').base_url}/one`);
    expect((await after)?.body.payload_digest).not.toBe((await before)?.body.payload_digest);
    await decide(of.approver, second, 'approve');
    await untilExecution(of.workspace, id, 'completed');
    expect([of.seen('a/one'), of.seen('b/one')]).toEqual([0, 1]);
    expect(await outcomesOf(of)).toEqual([
      'pending_approval: held',
      'denied: refused: other_payload',
      'pending_approval: held',
      'completed: answered',
    ]);
  });

  test('uses its approval once: the same call of the next step and of a rerun requests another one', async () => {
    verifies('act.hold.once');
    const of = await governed(ask);
    const id = await of.start('one', 'one');
    const first = await heldApproval(of, id);
    await decide(of.approver, first, 'approve');
    const second = await heldApproval(of, id, first);
    expect(of.seen()).toBe(1);
    // The first approval has been used, and nobody can decide it again.
    expect(await decide(of.approver, first, 'approve')).toMatchObject({ status: 409 });
    await decide(of.approver, second, 'reject');
    await untilExecution(of.workspace, id, 'completed');
    const { body } = await of.workspace.api.post(`/execute_flow/${id}/rerun`, {});
    expect(await of.workspace.api.post(`/execute_flow/${body.execution_id}/execute`, {})).toMatchObject({
      status: 200,
    });
    const third = await heldApproval(of, body.execution_id);
    expect([first, second]).not.toContain(third);
    expect(of.seen()).toBe(1);
    expect(await outcomesOf(of)).toEqual([
      'pending_approval: held',
      'completed: answered',
      'pending_approval: held',
      'denied: refused: rejected',
      'pending_approval: held',
    ]);
    await moveExecution(of.workspace, body.execution_id, 'cancel');
  });

  test('ends with its run: cancelling withdraws the request', async () => {
    verifies('act.cancel');
    const of = await governed(ask);
    const id = await of.start('one');
    const approval = await heldApproval(of, id);
    await moveExecution(of.workspace, id, 'cancel');
    const ended = await untilExecution(of.workspace, id, 'failed');
    expect(ended.execution_context.waiting_for).toBeNull();
    expect(await closedAs(deps, id)).toBe('CANCELLED');
    await eventually(async () =>
      expect(await of.approver.get(`/v1/approvals/${approval}`)).toMatchObject({ body: { status: 'rejected' } }),
    );
    expect(of.seen()).toBe(0);
  });

  test('is repeated after its answer was lost only if a person approves it', async () => {
    verifies('act.unknown');
    const of = await governed(ask);
    let lose = true;
    sink.answer(`${of.prefix}/one`, (_, res) => {
      if (lose) res.socket?.resetAndDestroy();
      else res.setHeader('content-type', 'application/json').end('{"done":true}');
    });
    const [repeated, left] = [await of.start('one'), await of.start('one')];
    const firsts = [await heldApproval(of, repeated), await heldApproval(of, left)];
    for (const approval of firsts) await decide(of.approver, approval, 'approve');
    const seconds = [await heldApproval(of, repeated, firsts[0]), await heldApproval(of, left, firsts[1])];
    expect(of.seen()).toBe(2);
    const shown = await of.approver.get(`/v1/approvals/${seconds[0]}`);
    expect(shown.body.payload.about.outcome).toMatch(/^unknown/);
    lose = false;
    await decide(of.approver, seconds[0] ?? '', 'approve');
    await decide(of.approver, seconds[1] ?? '', 'reject', 'It is done, go on');
    expect(outputsOf(await untilExecution(of.workspace, repeated, 'completed'))).toEqual([{ done: true }]);
    expect(outputsOf(await untilExecution(of.workspace, left, 'completed'))).toMatchObject([
      { error: { code: 'outcome_unknown', message: expect.stringContaining('It is done, go on') } },
    ]);
    expect(of.seen()).toBe(3);
    expect((await auditOf(of)).filter(({ outcome }) => outcome === 'failed: unknown')).toHaveLength(2);
    // The approvals have been used, and no held call is left that waits for one.
    for (const approval of firsts)
      expect(await of.approver.get(`/v1/approvals/${approval}`)).toMatchObject({ body: { status: 'used' } });
    expect((await lifecyclesOf(of)).filter(({ status }) => status === 'pending_approval')).toEqual([]);
  });
});
