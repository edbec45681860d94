import { expect } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { flowThatCalls } from './flows.js';
import type { Workspace } from './fixture.js';
import { bearerClient } from './gateway.js';
import { createTable } from './tables.js';
import { file, send } from './uploads.js';

/** Returns the id of B's record of a kind, created on first use; `undefined` returns an unknown UUID. */
type Seeder = ((owner: Owner) => Promise<string>) | undefined;

export interface Owner {
  workspace: Workspace;
  idOf(kind: string): Promise<string>;
}

const posted = async ({ workspace: { api, projectID } }: Owner, path: string, body: object): Promise<string> => {
  const answer = await api.post(`${path}?projectID=${projectID}`, body);
  expect([path, answer]).toMatchObject([path, { body: { _id: expect.any(String) } }]);
  return answer.body._id as string;
};

/** One of each kind of record. */
export const seeders: Record<string, Seeder> = {
  project: async ({ workspace }) => workspace.projectID,
  project_name: async ({ workspace: { api, projectID } }) => {
    const { body } = await api.get(`/v1/project/${projectID}`);
    return body.name as string;
  },
  organization: async ({ workspace }) => workspace.organizationId,
  user: async ({ workspace }) => workspace.userId,
  agentflow: (owner) => posted(owner, '/agentflow', flowThatCalls([])),
  agent: async () => 'agent_1',
  execution: async (owner) =>
    posted(owner, '/execute_flow', { agentflow_id: await owner.idOf('agentflow'), goal: 'seeded' }),
  skill: (owner) => posted(owner, '/skill', { name: 'Seeded' }),
  connector: (owner) => posted(owner, '/actions/restful/config', { name: 'Seeded', config: { token: 'secret' } }),
  table: async ({ workspace }) => {
    const table = await createTable(workspace, [{ column_name: 'Price', column_type: 'number' }]);
    await table.insert([{ price: 1 }, { price: 2 }]);
    return table._id;
  },
  record: async (owner) => {
    const { body } = await owner.workspace.api.get(
      `/storage/${owner.workspace.projectID}/table/${await owner.idOf('table')}/records`,
    );
    return body.data[0]._id as string;
  },
  column: async () => 'price',
  action: (owner) => posted(owner, '/action', { name: 'Seeded', endpoint: 'https://example.com/' }),
  component: async ({ workspace: { api, projectID } }) =>
    (await api.get(`/dashboard/${projectID}`)).body.components[0].component_id as string,
  file: async ({ workspace: { api, projectID } }) =>
    (await send(api, `/file/${projectID}`, [file('seeded.txt', 'seeded')])).body.data[0]._id as string,
  schedule: async (owner) =>
    posted(owner, '/schedule/coworker', {
      coworker_id: await owner.idOf('agentflow'),
      goal: 'seeded',
      type: 'interval',
      frequency: 86_400,
    }),
  tag: (owner) => posted(owner, '/tag', { name: 'Seeded' }),
  task: async (owner) => {
    const { body } = await owner.workspace.api.get(`/execute_flow/${await owner.idOf('execution')}`);
    return body.task_id as string;
  },
  marketplace: async (owner) => posted(owner, '/marketplace', { agentflow_id: await owner.idOf('agentflow') }),
  lifecycle: async ({ workspace: { api, apiKey } }) => {
    const answer = await fetch(`${api.url}/v1/docs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: '{"topic":"governance"}',
    });
    return ((await answer.json()) as { lifecycle_id: string }).lifecycle_id;
  },
  rule: async ({ workspace: { api, apiKey, projectID } }) => {
    const rule = { policy_id: 'seeded', effect: 'forbid', tools: ['tag.delete'], projects: [projectID] };
    expect(await bearerClient(apiKey, api.url).post('/v1/policies/rules', rule)).toMatchObject({ status: 201 });
    return rule.policy_id;
  },
  // A workflow creates items that wait for a decision: an unknown id of the same form is sufficient here.
  inbox: async () => `approval:${newId()}`,
  approval: undefined,
  // Only a person invites (`platform/invitations.test.ts`).
  invitation: undefined,
  // A key has no sessions (`auth/own-sessions.test.ts`).
  session: undefined,
  memory: undefined,
  merge: undefined,
  api_key: undefined,
  connected_app: undefined,
  agreement: undefined,
};

/** The kind that an identifier of a path, query or body names, by its own name. */
export const kindByName: Record<string, string> = {
  projectID: 'project',
  projectId: 'project',
  project_id: 'project',
  project_name: 'project_name',
  organization_id: 'organization',
  org_id: 'organization',
  user_id: 'user',
  userId: 'user',
  executed_by: 'user',
  agentflow_id: 'agentflow',
  coworker_id: 'agentflow',
  agent_id: 'agent',
  start_from_agent_id: 'agent',
  from_agent_id: 'agent',
  execution_id: 'execution',
  parent_execution_id: 'execution',
  table_id: 'table',
  record_id: 'record',
  column_id: 'column',
  connector_id: 'connector',
  component_id: 'component',
  file_id: 'file',
  key_id: 'api_key',
  memory_id: 'memory',
  merge_id: 'merge',
  item_id: 'inbox',
  agreement_id: 'agreement',
  invitation_id: 'invitation',
  session_id: 'session',
};

/** The meaning of `{id}`, and of a name that means something else in a body, by the beginning of the path. */
export const kindByPath: Record<string, string> = {
  '/agentflow/': 'agentflow',
  '/skill/': 'skill',
  '/action/': 'action',
  '/task/': 'task',
  '/tag/': 'tag',
  '/inbox/': 'inbox',
  '/schedule/coworker/': 'schedule',
  '/marketplace/': 'marketplace',
  '/v1/lifecycles/': 'lifecycle',
  '/v1/approvals/': 'approval',
  '/v1/connected-apps/': 'connected_app',
  '/v1/policies/rules/': 'rule',
};

/** Parameters that name no record, with a value that the route accepts. */
export const plainParams: Record<string, string> = {
  expression: '1',
  step_id: 'price',
  category: 'restful',
  repository: 'octo/catalog',
  version: '1',
  number: '1',
  from: '1800000000',
  to: '1800003600',
};

/** Bodies for routes whose schema has no suitable example. */
export const bodies: Record<string, unknown> = {
  'POST /skill': { name: 'Foreign' },
  'POST /v1/query-context': { query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n' },
  'POST /storage/{projectID}/table/{table_id}/row': { price: 3 },
  'PUT /v1/projects/{projectId}/mode': { mode: 'governed' },
  'PUT /v1/policies': { policies: [] },
  'POST /v1/policies/rules': { policy_id: 'foreign', effect: 'permit' },
  'POST /v1/inbox': { operation: 'get', item_id: 'approval:1' },
  'POST /v1/policies/evaluate': { tool: 'query-context', input: {} },
};

const ofTheCredential = 'names no record: it works on the project or organization of the credential alone';

/** Routes without references to records, each with its reason; the test fails for any other such route. */
export const asksForNothing: Record<string, string> = {
  'GET /marketplace': 'what is published is for everybody',
  'GET /v1/auth/profile': 'it is that of the caller',
  'GET /v1/auth/sessions': 'they are those of the caller',
  'DELETE /v1/auth/sessions': 'they are those of the caller',
  'PATCH /v1/auth/profile': 'it is that of the caller',
  'GET /v1/project/all': 'its filter chooses among the projects that the caller sees',
  ...Object.fromEntries(
    [
      'POST /v1/query-context',
      'POST /v1/save-context',
      'POST /v1/remember',
      'POST /v1/ontology',
      'POST /v1/docs',
      'POST /v1/save-skill',
      'POST /v1/save-model',
      'POST /v1/bind-repository',
      'POST /v1/catalog/ingest',
      'GET /v1/lifecycles',
      'GET /v1/policy-decisions',
      'GET /v1/quota',
      'GET /v1/memories',
      'GET /v1/approvals',
      'GET /v1/audit',
      'GET /v1/audit/verify',
      'GET /v1/audit/checkpoints',
      'GET /v1/audit/export',
      'GET /v1/policies',
      'PUT /v1/policies',
      'POST /v1/policies/rules',
      'POST /v1/policies/evaluate',
      'GET /v1/policies/operations',
      'GET /v1/policies/versions',
      'GET /v1/policies/versions/{version}',
      'GET /v1/connected-apps',
      'POST /v1/auth/password',
      'GET /customer/settings',
      'PATCH /customer/settings',
    ].map((route) => [route, ofTheCredential]),
  ),
};

/** Operations of a person, who is refused any API key with 401. */
export const userTokenOnly = ['POST /v1/apikeys', 'GET /v1/apikeys', 'DELETE /v1/apikeys/{key_id}'];

/** Attempts that succeed, by route and way: the record is public, or the call affects only the caller's own project. */
export const ignored: Record<string, string> = {
  ...Object.fromEntries(
    ['GET /marketplace/{id}', 'POST /marketplace/coworker/{id}/hire'].flatMap((route) =>
      ['path', 'nested id'].map((by) => [`${route}: ${by}`, 'what is published is for everybody']),
    ),
  ),
  ...Object.fromEntries(
    ['path', 'nested id'].map((by) => [
      `GET /marketplace/coworker/{id}/check_update: ${by}`,
      'a copy of its own, that the caller has hired',
    ]),
  ),
  'POST /actions/{category}/config: body org_id': 'the specification lists it in the request; the credential decides',
};
