import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createQueryAsExecution } from '../../../../src/domain/tools/query-as-execution.js';
import { newId } from '../../../../src/base/ids.js';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { sendJson, startFakeModel, streamText, type FakeModel } from '../../../support/fake-model.js';
import { useDeps } from '../../../support/fixture.js';
import { bearerClient, createGatewayWorkspace, stagesOf, type GatewayWorkspace } from '../../../support/gateway.js';
import { ownProduct } from '../../../support/own-product.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
/** Long enough for the last test to exhaust the quota and to start its run. */
const windowSeconds = 20;
const overrides: Record<string, string> = { QUOTA_PROJECT_MAX: '12', QUOTA_WINDOW_SECONDS: String(windowSeconds) };
const product = ownProduct(overrides);
let model: FakeModel;
let workspace: () => Promise<GatewayWorkspace>;

beforeAll(async () => {
  model = await startFakeModel();
  overrides.LLM_BASE_URL = model.url;
  const [api] = await Promise.all([product.api(), product.worker()]);
  workspace = async () => {
    const member = await createGatewayWorkspace(deps);
    return { ...member, ...product.through(api, member), gateway: bearerClient(member.apiKey, api.url) };
  };
});
afterAll(() => model.close());

const flowAt = (name: string, template = '{{ goal }}') => ({
  name: 'Test flow',
  agents: [{ _id: 'agent_1', title: 'Clerk', prompt: { template }, llm: { model: name }, has_knowledge_base: true }],
});
const graph = {
  source: 'handbook',
  entities: [
    {
      id: 'acme',
      type: 'Customer',
      name: 'Acme',
      properties: { city: 'Oslo', contact: 'Write to jane.roe@example.com' },
    },
    { id: 'bolt', type: 'Product', name: 'Bolt M8', properties: { price: 3.5 } },
  ],
  relationships: [{ from: 'acme', type: 'BOUGHT', to: 'bolt', properties: { pieces: 12 } }],
  facts: [{ subject: 'acme', predicate: 'tier', object: 'gold', confidence: 0.9 }],
};
const save = async ({ gateway }: GatewayWorkspace) =>
  expect(await gateway.post('/v1/save-context', graph)).toMatchObject({ status: 200 });
const queriesOf = async ({ gateway }: GatewayWorkspace) =>
  (await gateway.get('/v1/lifecycles?tool=query-context')).body.data;
const failureOf = async (member: GatewayWorkspace, id: string) =>
  (await untilExecution(member, id, 'failed')).execution_context.failure;
const policies = (effect: string, more: object = {}) => ({
  policies: [
    { policy_id: 'all', effect: 'permit' },
    { policy_id: 'no-runs', effect, tools: ['query-context'], when: 'principal.kind == "execution"', ...more },
  ],
});

describe('an agent with a knowledge base', () => {
  test('uses what the graph knows about its question, by one governed call that names the run', async () => {
    verifies('agent.knowledge-base');
    const member = await workspace();
    await save(member);
    // A retry of the turn uses the same knowledge.
    model.on('kb', (res, _, attempt) =>
      attempt === 1 ? sendJson(res, 500, {}, { 'retry-after-ms': '1' }) : streamText(res, ['Acme bought bolts.']),
    );
    const id = await startExecution(member, flowAt('kb', 'Match what {{ goal }} bought'), { goal: 'Acme' });
    await untilExecution(member, id, 'completed');
    const prompts = model.asked('kb').map(({ body }) => body.messages[1].content as string);
    expect(prompts).toHaveLength(2);
    expect(prompts[0]).toBe(prompts[1]);
    const knowledge = /<knowledge>\n([^]*?)\n<\/knowledge>/.exec(prompts[0] ?? '')?.[1] ?? '';
    for (const part of [
      'Acme (Customer)',
      'city: Oslo',
      'Acme BOUGHT Bolt M8: pieces: 12 (source: handbook)',
      'Acme tier: gold',
    ])
      expect(knowledge).toContain(part);
    expect(knowledge).not.toContain('jane.roe@example.com');

    const lifecycles = await queriesOf(member);
    expect(lifecycles).toHaveLength(1);
    const [lifecycle] = lifecycles;
    expect(lifecycle).toMatchObject({
      status: 'completed',
      principal: { kind: 'execution', user_id: member.userId, execution_id: id },
      decision_id: expect.any(String),
    });
    expect([...lifecycle.consumed].sort()).toEqual(['acme', 'bolt']);
    const { body: audit } = await member.gateway.get('/v1/audit');
    expect(audit.data).toContainEqual(
      expect.objectContaining({
        actor: `execution:${member.userId}:${id}`,
        action: 'query-context',
        outcome: 'completed',
        lifecycle_id: lifecycle.lifecycle_id,
      }),
    );
    const kept = await deps.mongo.collections.execution_knowledge.findOne({ execution_id: id });
    expect(kept).toMatchObject({ agent_id: 'agent_1', lifecycle_id: lifecycle.lifecycle_id, text: knowledge });
  });

  test('gets entities whose provenance names the run', async () => {
    verifies('agent.knowledge-base');
    const member = await workspace();
    await save(member);
    const query = createQueryAsExecution(deps);
    const identity = {
      executionId: newId(),
      userId: member.userId,
      organizationId: member.organizationId,
      projectId: member.projectID,
    };
    const answer = await query(identity, { query: 'what did Acme buy?', limit: 5 }, new AbortController().signal);
    expect(answer.entities.length).toBeGreaterThan(0);
    for (const { provenance } of [...answer.entities, ...answer.relationships, ...answer.facts]) {
      expect(provenance).toMatchObject({
        source: 'handbook',
        consumed: { run: identity.executionId, lifecycle_id: answer.lifecycle_id },
      });
    }
    const direct = await member.gateway.post('/v1/query-context', { query: 'what did Acme buy?' });
    expect(direct.body.entities[0].provenance.consumed.run).toBeNull();
  });

  test('sees nothing of other projects', async () => {
    const [member, other] = [await workspace(), await workspace()];
    await save(other);
    const id = await startExecution(member, flowAt('nothing'), { goal: 'What did Acme buy?' });
    await untilExecution(member, id, 'completed');
    expect(model.asked('nothing')[0]?.body.messages[1].content).not.toMatch(/knowledge|Oslo/);
    expect(await queriesOf(member)).toMatchObject([{ consumed: [] }]);
  });

  test.each([
    ['forbid', {}, 'S5:policy'],
    ['require_approval', { approvers: 1 }, 'S6:approval'],
  ])('ends its run if a policy says %s', async (effect, more, stage) => {
    verifies('agent.knowledge-base');
    const member = await workspace();
    expect(await member.gateway.put('/v1/policies', policies(effect, more))).toMatchObject({ status: 200 });
    const id = await startExecution(member, flowAt(`never-${effect}`));
    expect(await failureOf(member, id)).toMatchObject({ reason: 'step_failed', code: stage });
    expect(model.asked(`never-${effect}`)).toHaveLength(0);
    const [lifecycle] = await queriesOf(member);
    expect(lifecycle).toMatchObject({ status: 'denied', principal: { execution_id: id } });
    expect((await stagesOf(member.gateway, lifecycle.lifecycle_id)).at(-1)).toBe(`${stage}!`);
    expect((await member.gateway.get('/v1/approvals')).body.data).toEqual([]);
    expect((await member.api.get(`/execute_flow/${id}/monitoring`)).body.steps.at(-1)).toMatchObject({
      attempts: 1,
      status: 'failed',
    });
  });

  test('waits for its turn if the quota is used up', async () => {
    verifies('agent.knowledge-base');
    const member = await workspace();
    await Promise.all(Array.from({ length: 12 }, () => member.gateway.post('/v1/orchestrate', { operation: 'list' })));
    const id = await startExecution(member, flowAt('patient'));
    await untilExecution(member, id, 'completed');
    const statuses = (await queriesOf(member)).map(({ status }: { status: string }) => status);
    expect(statuses[0]).toBe('completed');
    expect(statuses.slice(1)).toContain('denied');
  });
});
