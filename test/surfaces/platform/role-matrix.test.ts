import { describe, expect, test } from '@jest/globals';
import { memberRoles, type MemberRole } from '../../../src/auth/grants.js';
import { permits } from '../../../src/auth/principal.js';
import { rolesWith } from '../../../src/auth/require-grant.js';
import { permissionOf, type Operation } from '../../../src/governance/operations/operation.js';
import { newId } from '../../../src/base/ids.js';
import { gatewayRoutes } from '../../../src/surfaces/gateway/gateway-routes.js';
import { platformRoutes } from '../../../src/surfaces/platform/resources.js';
import type { ApiClient } from '../../support/client.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../support/fixture.js';
import { principalOf } from '../../support/governance/approvals.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const routes = [...platformRoutes, ...gatewayRoutes(deps, () => 'http://localhost')];

interface Call {
  name: string;
  method: string;
  path: string;
  operation: Operation;
  body?: Record<string, unknown>;
  isStream?: boolean;
}

const bodyOf = (method: string, body = {}) => (['get', 'delete'].includes(method) ? {} : { body });

/** Every route of an operation, and every tool with each of its operations. */
const calls: Call[] = [
  ...routes.flatMap(({ method, path, operation, response }) =>
    operation
      ? [
          {
            ...{ name: `${method.toUpperCase()} ${path}`, method, path, operation },
            ...bodyOf(method),
            isStream: response.stream === 'text/event-stream',
          },
        ]
      : [],
  ),
  ...routes.flatMap(({ method, path, tool }) => {
    if (!tool) return [];
    const words = (tool.input as { shape?: Record<string, { options?: string[] }> }).shape?.operation?.options ?? [];
    const inputs = words.length > 0 ? words.map((operation) => ({ operation })) : [{}];
    return inputs.map((body) => ({
      ...{ method, path, operation: tool.caseOf(body).operation },
      name: `${method.toUpperCase()} ${path} ${JSON.stringify(body)}`,
      ...bodyOf(method, body),
    }));
  }),
];

/** The roles that the declaration of the operation admits. */
function allowed({ operation }: Call): readonly string[] {
  const roles = rolesWith(permissionOf(operation));
  return operation.adminOnly && !operation.right
    ? roles.filter((role) => role.endsWith('ADMIN') || role === 'OWNER')
    : roles;
}

function send(api: ApiClient, { projectID }: Workspace, { method, path, body }: Call) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => (/^project(_?id)$/i.test(name) ? projectID : newId()));
  const call = api[method as 'get'] as (path: string, body?: unknown) => ReturnType<ApiClient['get']>;
  return body === undefined ? call(filled) : call(filled, body);
}

const needs = /this call needs (the grant|one of the roles|an admin role)/;

describe('every operation', () => {
  test.each(memberRoles.map((role) => [role]))(
    'admits and refuses a person with the role %s as declared',
    async (role) => {
      verifies('roles.table');
      const workspace = await createWorkspace(deps);
      const api = await personOf(deps, workspace, { role, userId: newId() });
      const wrong: unknown[] = [];
      for (const call of calls) {
        const isAllowed = allowed(call).includes(role);
        // An open stream has no end.
        if (isAllowed && call.isStream) continue;
        const { status, body } = await send(api, workspace, call);
        const isRefused = status === 403 && needs.test(String(body.error_description));
        if (isRefused === isAllowed) wrong.push([call.name, role, status, body.error_description]);
      }
      expect(wrong).toEqual([]);
    },
  );

  test('of a person with several roles is admitted if one of them is', () => {
    verifies('roles.union');
    for (const call of calls)
      for (const one of memberRoles)
        for (const other of memberRoles) {
          const both = principalOf(one, { roles: [one, other] });
          const permission = permissionOf(call.operation);
          const admits = (role: MemberRole) => permits(principalOf(role), permission);
          expect([call.name, one, other, permits(both, permission)]).toEqual([
            call.name,
            one,
            other,
            admits(one) || admits(other),
          ]);
        }
  });
});

/** What the words of the guide mean for each kind of change; the table in the code decides the rest. */
const expected: Record<string, readonly string[]> = {
  'POST /agentflow': ['EDITOR'],
  'PATCH /agentflow/{id}': ['EDITOR'],
  'POST /agentflow/{id}/promote': ['EDITOR'],
  'POST /skill': ['EDITOR'],
  'POST /schedule/coworker': ['EDITOR'],
  'POST /schedule/coworker/{id}/trigger': ['EDITOR'],
  'POST /actions/{category}/config': ['EDITOR'],
  'POST /storage/{projectID}/table': ['EDITOR'],
  'POST /file/{projectID}': ['EDITOR'],
  'POST /dashboard/{projectID}/component': ['EDITOR'],
  'POST /v1/approvals/{id}/approve': ['APPROVER'],
  'POST /v1/approvals/{id}/reject': ['APPROVER'],
  'POST /execute_flow/{execution_id}/preview': ['APPROVER'],
  'GET /v1/approvals': ['APPROVER', 'EDITOR', 'MEMBER', 'VIEWER'],
  'GET /inbox': ['APPROVER', 'EDITOR', 'MEMBER', 'VIEWER'],
  'POST /execute_flow': ['EDITOR', 'MEMBER'],
  'POST /execute_flow/{execution_id}/execute': ['EDITOR', 'MEMBER'],
  'POST /execute_flow/{execution_id}/cancel': ['EDITOR', 'MEMBER'],
  'GET /execute_flow/{execution_id}': ['APPROVER', 'EDITOR', 'MEMBER', 'VIEWER'],
  'GET /agentflow': ['APPROVER', 'EDITOR', 'MEMBER', 'VIEWER'],
  'GET /connectors/{projectID}': ['APPROVER', 'EDITOR', 'VIEWER'],
  'GET /schedule/coworker': ['APPROVER', 'EDITOR', 'VIEWER'],
  'GET /storage/{projectID}': ['APPROVER', 'EDITOR', 'VIEWER'],
  'GET /analytics/{projectID}': ['APPROVER', 'EDITOR', 'VIEWER'],
  'GET /project-member/{projectID}': ['APPROVER', 'EDITOR', 'VIEWER'],
  'GET /settings/{projectID}': ['APPROVER', 'EDITOR', 'VIEWER'],
  'GET /customer': ['APPROVER', 'EDITOR', 'VIEWER'],
  'GET /v1/audit': ['APPROVER', 'EDITOR', 'VIEWER'],
  'GET /v1/policies': ['APPROVER', 'EDITOR', 'VIEWER'],
  'PUT /v1/policies': [],
  'POST /v1/policies/rules': [],
  'POST /project-member/{projectID}': [],
  'PATCH /project-member/{projectID}/{user_id}': [],
  'DELETE /project-member/{projectID}/{user_id}': [],
  'PATCH /settings/{projectID}': [],
  'PATCH /v1/project/{project_id}': [],
  'POST /v1/project': [],
};

test.each(Object.entries(expected))('%s is for administrators and %j', (name, roles) => {
  verifies('roles.editor-and-approver', 'roles.viewer');
  const call = calls.find((each) => each.name === name);
  expect(call && [...allowed(call)].sort()).toEqual([...roles, 'ORG_ADMIN', 'OWNER', 'PROJECT_ADMIN'].sort());
});
