import { mintHeldKey } from '../../../auth/api-key-admin.js';
import { isAdminRole, type Grant } from '../../../auth/grants.js';
import type { DeviceRequestDocument } from '../../../auth/oauth/device-requests.js';
import { findProjectChoice, type ProjectChoice } from '../../../auth/project-choices.js';
import { scopeOn } from '../../../auth/resolve-scope.js';
import { isRefusal } from '../../../base/errors.js';
import { epochSeconds } from '../../../base/time.js';
import { createKey } from '../../../domain/api-keys/operations.js';
import { performOperation } from '../../../governance/kernel/perform-operation.js';
import { traceIn } from '../../../http/trace.js';
import { principalOf } from '../../browser/console-session.js';
import type { DeviceVisit, Person } from './device-visit.js';

/** How long a key is valid. */
export const keyDays = 90;
/** What the commands of `gcs` need, except those for policies and approvals. */
const keyGrants: Grant[] = ['svc:orchestrate.read', 'svc:orchestrate.write', 'svc:agent.run'];

/** Returns the project if the person may create keys there. */
export async function findKeyProject(
  { deps }: Pick<DeviceVisit, 'deps'>,
  { userId }: Person,
  projectId: string | null | undefined,
): Promise<ProjectChoice | undefined> {
  const choice = projectId && (await findProjectChoice(deps.mongo.collections, userId, projectId));
  return choice && isAdminRole(choice.role) ? choice : undefined;
}

/**
 * Creates the key for a request that the person allows, and stores the answer. Creating it is the same governed operation
 * as everywhere. If it is refused or held, the request stays open, and the program learns why.
 * @returns the problem, if the key was not created
 */
export async function allowDevice(
  visit: DeviceVisit,
  person: Person,
  request: DeviceRequestDocument,
  projectId: string | null,
): Promise<string | undefined> {
  const { deps, devices } = visit;
  const choice = await findKeyProject(visit, person, projectId);
  if (!choice) return 'Choose a project on which you may create API keys.';
  if (!(await devices.claim(request._id, person.userId)))
    return 'Somebody has answered this request in the meantime, or it has expired.';
  const problem = await createKeyFor(visit, person, request, choice.projectId);
  if (problem !== undefined) {
    await devices.explain(request._id, problem);
    return problem;
  }
  const counted = await devices.answer(request._id, 'allowed');
  if (counted === 'allowed') return undefined;
  // The person denied the request in another window, so nobody can use the key.
  const revoked = { $set: { revoked_at: epochSeconds() } };
  await deps.mongo.collections.api_keys.updateOne({ _id: request.key_hash }, revoked);
  return 'You have denied this request in another window.';
}

async function createKeyFor(
  { deps, baseUrl, res }: DeviceVisit,
  person: Person,
  request: DeviceRequestDocument,
  projectId: string,
): Promise<string | undefined> {
  const principal = principalOf(person);
  const input = { name: keyNameOf(request), project_id: projectId, grants: keyGrants };
  const held = {
    secretHash: request.key_hash,
    clientId: request.client_id,
    expiresAt: Math.floor(request.created_at) + keyDays * 24 * 3600,
  };
  const outcome = await performOperation({
    ...{ entrance: 'page', operation: createKey, deps, traceId: traceIn(res).traceId, baseUrl: baseUrl() },
    signal: deps.stopping.signal,
    authenticate: async () => (await scopeOn(deps, principal, projectId)) ?? principal,
    key: () => ({}),
    read: async () => input,
    run: ({ ctx }) => {
      const { project_id, ...wanted } = input;
      return mintHeldKey(deps, ctx.principal, project_id, wanted, held);
    },
  });
  if ('error' in outcome) {
    if (!isRefusal(outcome.error)) throw outcome.error;
    return `The API key was not created: ${outcome.error.message}`;
  }
  if (!outcome.held) return undefined;
  const { approval_id: id } = outcome.value as { approval_id: string };
  return `A policy requires that another person approves the API key first (approval ${id}). Once it is approved, choose Allow again`;
}

function keyNameOf({ device_name }: DeviceRequestDocument): string {
  return device_name === '' ? 'gcs' : `gcs on ${device_name}`;
}
