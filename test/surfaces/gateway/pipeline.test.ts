import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { useDeps } from '../../support/fixture.js';
import { bearerClient, colleagueOf, createGatewayWorkspace, stagesOf } from '../../support/gateway.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const allStages = [
  'S1:authenticate',
  'S2:resolve-scope',
  'S3:rate-quota',
  'S4:validate-input',
  'S5:policy',
  'S6:approval',
  'S7:dry-run',
  'S8:execute',
];
const list = { operation: 'list' };

describe('a governed call', () => {
  test('runs S1 to S8 in order and connects answer, lifecycle, decision and audit entry', async () => {
    verifies(
      'pipeline.order',
      'pipeline.lifecycle-id',
      'gateway.lifecycles.get',
      'resource.lifecycle',
      'gateway.policy-decisions',
    );
    const { gateway } = await createGatewayWorkspace(deps);
    const answer = await gateway.post('/v1/orchestrate', list, {
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    });
    expect(answer).toMatchObject({ status: 200, body: { executions: [], lifecycle_id: expect.any(String) } });
    const { lifecycle_id } = answer.body;
    const lifecycle = await gateway.get(`/v1/lifecycles/${lifecycle_id}`);
    expect(lifecycle.body).toMatchObject({
      lifecycle_id,
      tool: 'orchestrate',
      status: 'completed',
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    });
    expect(lifecycle.body.stages.map(({ stage }: { stage: string }) => stage)).toEqual(allStages);
    const decisions = await gateway.get('/v1/policy-decisions');
    expect(decisions.body.data).toMatchObject([
      { lifecycle_id, decision: 'permit', policy_ids: ['permit-everything'], policy_version: 0 },
    ]);
    const audit = await gateway.get('/v1/audit');
    expect(audit.body.data).toMatchObject([{ lifecycle_id, action: 'orchestrate', outcome: 'completed' }]);
  });

  test('is refused at S1 without a lifecycle, with a link to get a credential', async () => {
    verifies(
      'pipeline.s1-authenticate',
      'auth.missing',
      'errors.body.401-without-lifecycle',
      'auth.other-header',
      'errors.header.www-authenticate',
      'errors.code.invalid_token',
    );
    const { gateway } = await createGatewayWorkspace(deps);
    const none = await bearerClient('x').post('/v1/orchestrate', list, { authorization: '' });
    const missing = await fetch(`${gateway.url}/v1/orchestrate`, { method: 'POST', body: 'not even json' });
    expect(missing.status).toBe(401);
    expect(missing.headers.get('www-authenticate')).toMatch(
      /^Bearer resource_metadata="http.*\/\.well-known\/oauth-protected-resource"$/,
    );
    expect(await missing.json()).toEqual({ error: 'invalid_token', error_description: 'missing bearer credential' });
    expect(none.status).toBe(401);
    const other = { 'x-api-key': `svc_sk_${'A'.repeat(43)}` };
    for (const path of ['/v1/orchestrate', '/v1/quota', '/mcp']) {
      const answer = await fetch(gateway.url + path, { method: path === '/v1/quota' ? 'GET' : 'POST', headers: other });
      expect([path, answer.status, await answer.text()]).toEqual([
        path,
        401,
        expect.stringContaining('send the API key as Authorization: Bearer, not in x-api-key'),
      ]);
    }
    const bad = await bearerClient(`svc_sk_${'A'.repeat(43)}`).post('/v1/orchestrate', list);
    expect(bad).toMatchObject({
      status: 401,
      body: { error: 'invalid_token', error_description: 'api key invalid or revoked' },
    });
    expect(bad.body).not.toHaveProperty('lifecycle_id');
  });

  test('is refused at S2 without the grant, and no later stage runs', async () => {
    verifies(
      'pipeline.s2-resolve-scope',
      'pipeline.refusal-code',
      'pipeline.every-refusal-recorded',
      'errors.body',
      'errors.status.403',
    );
    const owner = await createGatewayWorkspace(deps);
    // A role of an external identity provider has only the right to query.
    const reader = await colleagueOf(deps, owner, { role: 'AUDITOR' });
    const refused = await reader.post('/v1/orchestrate', list);
    expect(refused).toMatchObject({
      status: 403,
      body: {
        error: 'S2:resolve-scope',
        error_description: expect.stringContaining('svc:orchestrate.read'),
        lifecycle_id: expect.any(String),
      },
    });
    expect(await stagesOf(owner.gateway, refused.body.lifecycle_id)).toEqual(['S1:authenticate', 'S2:resolve-scope!']);
  });

  test('is refused at S2 if the workspace header names a project outside its scope', async () => {
    verifies('gateway.workspace-header.foreign', 'auth.tenancy-pinned');
    const mine = await createGatewayWorkspace(deps);
    const theirs = await createGatewayWorkspace(deps);
    const own = await mine.gateway.post('/v1/orchestrate', list, { 'x-service-workspace': `ws_${mine.projectID}` });
    expect(own.status).toBe(200);
    for (const header of [`ws_${theirs.projectID}`, theirs.projectID, 'ws_', 'ws_nothing']) {
      const refused = await mine.gateway.post('/v1/orchestrate', list, { 'x-service-workspace': header });
      expect(refused).toMatchObject({ status: 403, body: { error: 'S2:resolve-scope' } });
    }
  });

  test('is refused at S4 if it names a project in the body or in the query', async () => {
    verifies('gateway.project-id.never-from-client', 'pipeline.s4-validate-input');
    const { gateway, projectID } = await createGatewayWorkspace(deps);
    const tries = [
      await gateway.post('/v1/orchestrate', { ...list, project_id: projectID }),
      await gateway.post('/v1/orchestrate', { ...list, projectID }),
      await gateway.post(`/v1/orchestrate?project_id=${projectID}`, list),
    ];
    for (const refused of tries) {
      expect(refused).toMatchObject({
        status: 422,
        body: { error: 'S4:validate-input', lifecycle_id: expect.any(String) },
      });
    }
    expect(await stagesOf(gateway, tries[0]?.body.lifecycle_id)).toEqual([
      ...allStages.slice(0, 3),
      'S4:validate-input!',
    ]);
  });

  test('is answered 400 for wrong types, with the name of each field, and for a body that is not JSON', async () => {
    verifies('input.wrong-type', 'input.not-json', 'errors.status.400', 'errors.code.invalid_request');
    const { gateway } = await createGatewayWorkspace(deps);
    const wrong = await gateway.post('/v1/orchestrate', { operation: 'explode', limit: 'many', surprise: 1 });
    expect(wrong).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(wrong.body.error_description).toMatch(/operation.*limit.*surprise/s);
    for (const body of ['{', '[1]', '"text"', '7', 'null', '']) {
      const refused = await gateway.post('/v1/orchestrate', body);
      expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    }
  });

  test('is refused at S5 by a forbid rule, which the decision names', async () => {
    verifies('pipeline.s5-policy', 'policy.decision-names-rules', 'gateway.policies', 'gateway.policies.evaluate');
    const { gateway } = await createGatewayWorkspace(deps);
    const forbid = { policy_id: 'no-listing', description: 'Nobody lists.', effect: 'forbid', tools: ['orchestrate'] };
    const all = { policy_id: 'all', effect: 'permit' };
    expect(await gateway.put('/v1/policies', { policies: [all, forbid] })).toMatchObject({
      status: 200,
      body: { version: 1 },
    });
    const refused = await gateway.post('/v1/orchestrate', list);
    expect(refused).toMatchObject({ status: 403, body: { error: 'S5:policy', error_description: 'Nobody lists.' } });
    const tried = await gateway.post('/v1/policies/evaluate', { tool: 'orchestrate', input: list });
    expect(tried).toMatchObject({
      status: 200,
      body: { decision: 'forbid', policy_ids: ['no-listing'], policy_version: 1 },
    });
    const decisions = await gateway.get('/v1/policy-decisions');
    // Replacing the policies is a governed call as well.
    expect(decisions.body.total_count).toBe(2);
    expect(decisions.body.data[0]).toMatchObject({ decision: 'forbid', policy_ids: ['no-listing'], policy_version: 1 });
    expect(await stagesOf(gateway, refused.body.lifecycle_id)).toEqual([...allStages.slice(0, 4), 'S5:policy!']);
  });

  test('with dry_run stops at S7, reports its effect and changes nothing', async () => {
    verifies('pipeline.s7-dry-run', 'gateway.lifecycles.statuses');
    const { gateway, projectID } = await createGatewayWorkspace(deps);
    const dry = await gateway.post('/v1/save-model', { model: 'some-model', dry_run: true });
    expect(dry).toMatchObject({
      status: 200,
      body: { dry_run: true, would: { save: { model: 'some-model' } }, lifecycle_id: expect.any(String) },
    });
    expect(await deps.mongo.collections.project_models.findOne({ _id: projectID })).toBeNull();
    expect(await stagesOf(gateway, dry.body.lifecycle_id)).toEqual(allStages.slice(0, 7));
    const lifecycles = await gateway.get('/v1/lifecycles?status=dry_run');
    expect(lifecycles.body.data).toMatchObject([{ tool: 'save-model', status: 'dry_run' }]);
  });

  test('keeps secrets and payloads out of stage details', async () => {
    verifies('pipeline.details-without-secrets', 'errors.body.safe-description');
    const { gateway, apiKey } = await createGatewayWorkspace(deps);
    await gateway.post('/v1/save-model', { model: 'svc_sk_looks_like_a_secret', temperature: 'hot password' });
    const lifecycles = await gateway.get('/v1/lifecycles');
    const text = JSON.stringify(lifecycles.body);
    for (const secret of [apiKey, 'hot password', 'looks_like_a_secret']) expect(text).not.toContain(secret);
  });
});

describe('the approval of a held call', () => {
  test('answers 202, and lets the call pass once with its resume token', async () => {
    verifies('pipeline.s6-approval', 'approval.pending', 'approval.approved', 'approval.token.once', 'approval.roles');
    const owner = await createGatewayWorkspace(deps);
    const other = await colleagueOf(deps, owner);
    const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['save-model'] };
    await owner.gateway.put('/v1/policies', { policies: [{ policy_id: 'all', effect: 'permit' }, ask] });
    const call = { model: 'approved-model' };
    const pending = await owner.gateway.post('/v1/save-model', call);
    expect(pending).toMatchObject({
      status: 202,
      body: {
        status: 'pending_approval',
        approval_id: expect.any(String),
        lifecycle_id: expect.any(String),
        expires_at: expect.any(Number),
      },
    });
    const { approval_id } = pending.body;
    const dry = await owner.gateway.post('/v1/save-model', { ...call, dry_run: true });
    expect(dry).toMatchObject({
      status: 200,
      body: { would: { save: call, approval: { policy_ids: ['ask'], approvers: 1 } } },
    });
    expect((await owner.gateway.post(`/v1/approvals/${approval_id}/approve`, {})).status).toBe(403);
    expect(await other.post(`/v1/approvals/${approval_id}/approve`, {})).toMatchObject({
      status: 200,
      body: { status: 'approved' },
    });
    expect((await other.post(`/v1/approvals/${approval_id}/reject`, {})).status).toBe(409);
    const { body } = await owner.gateway.get(`/v1/approvals/${approval_id}`);
    const token = { 'x-resume-token': body.resume_token };
    expect(await owner.gateway.post('/v1/save-model', { model: 'another' }, token)).toMatchObject({
      status: 403,
      body: { error: 'S6:approval' },
    });
    expect(await owner.gateway.post('/v1/save-model', call, token)).toMatchObject({
      status: 200,
      body: { model: 'approved-model' },
    });
    expect(await owner.gateway.post('/v1/save-model', call, token)).toMatchObject({
      status: 403,
      body: { error: 'S6:approval' },
    });
  });

  test('if rejected or expired, ends the call as denied with an audit entry', async () => {
    verifies('approval.rejected', 'approval.expired');
    const owner = await createGatewayWorkspace(deps);
    const other = await colleagueOf(deps, owner);
    const ask = { effect: 'require_approval', tools: ['save-model'] };
    const put = (rule: object) =>
      owner.gateway.put('/v1/policies', {
        policies: [
          { policy_id: 'all', effect: 'permit' },
          { policy_id: 'ask', ...ask, ...rule },
        ],
      });
    const hold = async (model: string) => (await owner.gateway.post('/v1/save-model', { model })).body;
    await put({});
    const rejected = await hold('rejected');
    await other.post(`/v1/approvals/${rejected.approval_id}/reject`, {});
    await put({ approval_ttl_seconds: 1 });
    const expired = await hold('expired');
    for (const [{ lifecycle_id, approval_id }, why] of [
      [rejected, 'the approval was rejected'],
      [expired, 'nobody decided on it in time'],
    ]) {
      await eventually(async () =>
        expect((await owner.gateway.get(`/v1/lifecycles/${lifecycle_id}`)).body).toMatchObject({ status: 'denied' }),
      );
      const { data } = (await owner.gateway.get('/v1/audit')).body;
      expect(data.filter((entry: { lifecycle_id: string }) => entry.lifecycle_id === lifecycle_id)).toMatchObject([
        { action: 'save-model', resource: `approval:${approval_id}`, outcome: `denied: ${why}` },
        { action: 'save-model', outcome: 'pending_approval' },
      ]);
    }
  });
});

describe('/v1 routes', () => {
  test('answer 405 with Allow to another method and 404 to an unknown tool', async () => {
    verifies(
      'gateway.tools.post-only',
      'gateway.tools.unknown',
      'errors.header.allow',
      'errors.status.405',
      'errors.code.not_found',
      'versioning.gateway-prefix',
    );
    const { gateway } = await createGatewayWorkspace(deps);
    for (const tool of ['orchestrate', 'run-agent', 'save-model', 'save-skill', 'bind-repository']) {
      for (const answer of [
        await gateway.get(`/v1/${tool}`),
        await gateway.delete(`/v1/${tool}`),
        await gateway.put(`/v1/${tool}`, {}),
      ]) {
        expect(answer).toMatchObject({ status: 405, body: { error: 'method_not_allowed' } });
        expect(answer.headers.get('allow')).toBe('POST');
      }
    }
    expect(await gateway.post('/v1/no-such-tool', {})).toMatchObject({ status: 404, body: { error: 'not_found' } });
  });

  test('return the trace id of a request, also on refusals', async () => {
    verifies('errors.header.trace-id');
    const { gateway } = await createGatewayWorkspace(deps);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    for (const answer of [
      await gateway.post('/v1/orchestrate', list, { traceparent }),
      await gateway.post('/v1/orchestrate', '{', { traceparent }),
    ]) {
      expect(answer.headers.get('x-trace-id')).toBe('0af7651916cd43dd8448eb211c80319c');
      expect(answer.headers.get('server-timing')).toMatch(
        /^traceparent;desc="00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01"$/,
      );
    }
    expect((await gateway.post('/v1/orchestrate', list)).headers.get('x-trace-id')).toBeNull();
    // W3C Trace Context: version `ff` and ids of zeros are invalid.
    for (const unusable of [
      traceparent.replace(/^00/, 'ff'),
      traceparent.replace(/[^-]{16}-01$/, '0000000000000000-01'),
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      'any',
    ]) {
      expect(
        (await gateway.post('/v1/orchestrate', list, { traceparent: unusable })).headers.get('x-trace-id'),
      ).toBeNull();
    }
  });

  test('refuse hostile text and deeply nested or huge bodies without a 5xx', async () => {
    verifies('input.bounded', 'input.hostile-text');
    const { gateway } = await createGatewayWorkspace(deps);
    const bodies = [
      '{"model":"a\\u0000b"}',
      '{"model":"\\ud800"}',
      '{"__proto__":{"polluted":true},"model":"m"}',
      '{"model":"m","constructor":{"prototype":{"polluted":true}}}',
      `{"model":${'['.repeat(5000)}${']'.repeat(5000)}}`,
    ];
    for (const body of bodies) expect((await gateway.post('/v1/save-model', body)).status).toBe(400);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(await gateway.post('/v1/save-model', { model: 'x'.repeat(2_000_000) })).toMatchObject({ status: 413 });
  });
});
