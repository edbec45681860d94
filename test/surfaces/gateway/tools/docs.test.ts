import { beforeAll, describe, expect, test } from '@jest/globals';
import { reference, toolRoutes } from '../../../../src/surfaces/gateway/routes/tools.js';
import { answeredCode } from '../../../../src/surfaces/rest/error-answers.js';
import { readDocs } from '../../../../src/domain/tools/docs.js';
import { ontologyTool } from '../../../../src/domain/tools/ontology.js';
import { setMode } from '../../../../src/domain/tools/project-mode.js';
import { queryContext } from '../../../../src/domain/tools/query-context.js';
import { saveContext } from '../../../../src/domain/tools/save-context.js';
import { guardQuery } from '../../../../src/graph/guard/guard.js';
import { textLimits } from '../../../../src/graph/guard/text-bounds.js';
import { maxSteps } from '../../../../src/graph/guard/work.js';
import { prepareGraph } from '../../../../src/graph/store/schema.js';
import { useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';
import { call, contextFor, contextOf, toolWith } from '../../../graph/tool-call.js';

const deps = useDeps();
const query = toolWith(deps, queryContext);
const mode = toolWith(deps, setMode);
let used = 0;
const { governance } = deps;
const docs = toolWith(
  {
    ...deps,
    governance: {
      ...governance,
      policies: { ...governance.policies, versionInForce: async () => 3 },
      quota: {
        ...governance.quota,
        usage: async () => ({
          org_window_max: 600,
          org_window_used: 7,
          project_window_max: 0,
          project_window_used: (used += 1),
        }),
      },
    },
    reference: {
      ...reference,
      tools: reference.tools.filter(({ tool }) => ['query-context', 'project-mode'].includes(tool.name)),
    },
  },
  readDocs,
);
beforeAll(() => prepareGraph(deps.graph));

describe('POST /v1/docs', () => {
  test('reports the current credential, grants, quota, mode and policy version', async () => {
    verifies('gateway.docs.governance');
    const ctx = contextOf({ kind: 'user_jwt', clientId: 'client-1', grants: ['svc:docs.read'] });
    const first = await call(docs, ctx, { topic: 'governance' });
    expect(first).toMatchObject({
      topic: 'governance',
      auth_kind: 'user_jwt',
      client_id: 'client-1',
      grants: ['svc:docs.read'],
      mode: 'simple',
      policy_version: 3,
      quota: { org_window_max: 600, org_window_used: 7, project_window_max: 0, project_window_used: used },
      scope: { project_id: ctx.projectId },
    });
    await call(mode, ctx, { mode: 'governed' });
    const second = await call(docs, contextFor(ctx.principal), { topic: 'governance' });
    expect(second).toMatchObject({
      mode: 'governed',
      quota: { project_window_used: first.quota.project_window_used + 1 },
    });
  });

  test('answers every other topic from the live service, and refuses unknown topics', async () => {
    verifies('gateway.docs.topics');
    const ctx = contextOf();
    const ontology = toolWith(deps, ontologyTool);
    await call(ontology, ctx, {
      define: {
        entity_types: { 'Odd type': {}, Ship: {} },
        relationship_types: { CARRIES: { from: ['Ship'], to: ['Odd type'] } },
      },
    });
    await call(ontology, ctx, { commit: true });
    expect(await call(docs, ctx, { topic: 'ontology' })).toMatchObject({
      version: 1,
      ontology: { entity_types: { Ship: {} } },
    });
    const { tools } = await call(docs, ctx, { topic: 'tools' });
    expect(tools).toMatchObject([
      { name: 'query-context', mcp_tool: 'query_context', granted: true, route: 'POST /v1/query-context' },
      { name: 'project-mode', granted: true, route: 'PUT /v1/projects/{projectId}/mode' },
    ]);
    const { errors } = await call(docs, ctx, { topic: 'errors' });
    expect(errors).toContainEqual(expect.objectContaining({ error: 'S3:rate-quota', status: 429 }));
    const declared = toolRoutes.flatMap(({ errors = [] }) => errors.map((code) => answeredCode(code)));
    expect(errors.map(({ error }: any) => error)).toEqual(expect.arrayContaining(declared));
    expect(docs.input.safeParse({ topic: 'weather' }).success).toBe(false);
  });

  test('reports the limits that the guard enforces', async () => {
    verifies('gateway.docs.topics');
    const ctx = contextOf();
    const { limits, rules } = await call(docs, ctx, { topic: 'query' });
    expect(limits.query).toMatchObject({ tokens: textLimits.tokens, steps_in_one_row: maxSteps });
    expect(rules.join('\n')).toContain('=~');
    const { characters, clauses, labels_in_a_row } = limits.query;
    for (const [text, refusal] of [
      [
        `MATCH (n${':A'.repeat(labels_in_a_row + 1)}) WHERE n.project_id = $project_id RETURN n`,
        `more than ${labels_in_a_row} consecutive labels`,
      ],
      [
        `MATCH (n) WHERE n.project_id = $project_id ${'WITH n '.repeat(clauses)} RETURN n`,
        `more than ${clauses} clauses`,
      ],
      [`RETURN "${'x'.repeat(characters)}"`, `longer than ${characters} characters`],
    ] as const)
      expect(() => guardQuery(text)).toThrow(refusal);
  });

  test('returns examples that run unchanged', async () => {
    verifies('gateway.docs.topics', 'gateway.query.honest-pass');
    const ctx = contextOf();
    await call(toolWith(deps, saveContext), ctx, { entities: [{ type: 'Customer', name: 'A' }] });
    const { examples } = await call(docs, ctx, { topic: 'query' });
    for (const { query: text } of examples)
      expect(await call(query, ctx, { query: text, params: { name: 'A' }, granted_projects: true })).toMatchObject({
        limit: 25,
      });
  });
});
