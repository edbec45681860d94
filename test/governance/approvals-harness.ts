import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { pinoHttp } from 'pino-http';
import type { Principal } from '../../src/auth/principal.js';
import { defaultGrants } from '../../src/auth/grants.js';
import type { Deps } from '../../src/deps.js';
import { approvalRoutes } from '../../src/gateway/routes/approvals.js';
import { policyRoutes } from '../../src/gateway/routes/policies.js';
import { payloadDigest } from '../../src/governance/approvals/payload-digest.js';
import type { ApprovalRequest } from '../../src/governance/approvals/stage.js';
import type { PolicyDecision } from '../../src/governance/policy/decision.js';
import type { Approvals } from '../../src/governance/approvals/create-approvals.js';
import type { Policies } from '../../src/governance/policy/create-policies.js';
import { errorHandler } from '../../src/http/errors.js';
import { mountRoutes } from '../../src/http/mount.js';
import { newId } from '../../src/ids.js';
import { packageRoot } from '../../src/package-root.js';
import { apiClient, type ApiClient } from '../support/client.js';

export function principalOf(role = 'OWNER', fields: Partial<Principal> = {}): Principal {
  return {
    kind: 'user_jwt',
    userId: newId(),
    organizationId: newId(),
    departmentId: newId(),
    projectId: newId(),
    role,
    grants: defaultGrants(role),
    ...fields,
  };
}

/** Somebody else in the same project. */
export function colleagueOf(principal: Principal, role = 'ORG_ADMIN', fields: Partial<Principal> = {}): Principal {
  const { organizationId, departmentId, projectId } = principal;
  return principalOf(role, { organizationId, departmentId, projectId, ...fields });
}

export const asking: PolicyDecision = {
  decision: 'require_approval',
  policy_ids: ['ask'],
  policy_version: 1,
  approvers: 1,
  approval_ttl_seconds: 600,
  reason: 'Writes are looked at.',
};
export const payload = { entities: [{ type: 'Person', name: 'Ada' }], source: 'test' };

/** A member's API key. */
export function agent(fields: Partial<Principal> = {}): Principal {
  return principalOf('MEMBER', { kind: 'api_key', keyId: newId(), ...fields });
}

/** A call that a policy holds. */
export function heldCall(principal: Principal, fields: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    principal,
    lifecycleId: newId(),
    tool: 'save-context',
    payloadDigest: payloadDigest('save-context', payload),
    decision: asking,
    resumeToken: undefined,
    dryRun: false,
    ...fields,
  };
}

export async function hold(approvals: Approvals, principal: Principal, fields: Partial<ApprovalRequest> = {}): Promise<{ approval_id: string; expires_at: number }> {
  const outcome = await approvals.stage(heldCall(principal, fields));
  if (outcome.outcome !== 'pending') throw new Error(`the call was ${outcome.outcome}`);
  return outcome;
}

export interface GovernanceApi {
  as(principal: Principal): ApiClient;
  close(): Promise<void>;
}

/** The routes of policies and approvals, for callers whose credential is taken for verified. */
export async function serveGovernance(deps: Deps, policies: Policies, approvals: Approvals): Promise<GovernanceApi> {
  const app = express();
  app.use(pinoHttp({ logger: deps.log }));
  mountRoutes(app, [...policyRoutes({ policies }), ...approvalRoutes({ approvals })], {
    authenticate: async (req) => JSON.parse(Buffer.from(req.get('authorization') ?? '', 'base64url').toString()) as Principal,
    checkScope: () => undefined,
    idempotency: deps.idempotency,
    verifyResponses: true,
  });
  app.use(errorHandler);
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    as: (principal) => apiClient(url, { authorization: Buffer.from(JSON.stringify(principal)).toString('base64url') }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const workerScript = `
import { NativeConnection, Worker } from '@temporalio/worker';
import { createApprovalActivities } from './dist/activities/approvals.js';
import { createSecretBox } from './dist/src/auth/secret-box.js';
import { loadConfig } from './dist/src/config.js';
import { createDeps } from './dist/src/deps.js';
import { workflowBundle } from './dist/src/workflow-code.js';
const config = loadConfig(process.env);
const deps = createDeps(config, 'worker');
const worker = await Worker.create({
  connection: await NativeConnection.connect(config.temporal.connection),
  namespace: config.temporal.namespace,
  taskQueue: config.temporal.taskQueue,
  workflowBundle,
  activities: createApprovalActivities({ mongo: deps.mongo, secrets: createSecretBox(config) }),
  dataConverter: deps.temporal.dataConverter,
});
console.log('polling');
await worker.run();
`;

/** A worker process of approvals alone, on a task queue of its own; `end` kills it where it stands. */
export async function startApprovalWorker(env: Record<string, string>): Promise<{ end(): Promise<void> }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', workerScript], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  await Promise.race([
    new Promise<void>((resolve) => child.stdout.on('data', (chunk) => String(chunk).includes('polling') && resolve())),
    exited.then(() => Promise.reject(new Error(`the worker ended: ${errors}`))),
  ]);
  return {
    async end() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
