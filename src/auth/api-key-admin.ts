import { z } from 'zod';
import { AppError, notFound } from '../base/errors.js';
import { listPage, ListQuery } from '../stores/lists.js';
import { Id, isId, OrganizationId, ProjectId, UserId } from '../base/ids.js';
import { epochSeconds, EpochSeconds } from '../base/time.js';
import { ApiKeyScope, createApiKey, createHeldKey, type ApiKeyDocument, type HeldKey } from './api-keys.js';
import type { AuthDeps } from './create-auth.js';
import { defaultGrants, grantableGrants, Grant, haveSameRoles, isAdminRole, rolesOf } from './grants.js';
import { isPerson, type Principal } from './principal.js';
import { scopeOn } from './resolve-scope.js';
import { tokenInvalid } from './tokens.js';
import { pick } from '../base/pick.js';
import { VisibleText } from '../base/validation.js';

const note = 'The secret is shown once and cannot be read again; store it now.';

const KeyName = z.string().meta({ example: 'Nightly import' });

/** The response to the creation of a key (specification, API key). */
export const NewApiKeyAnswer = z
  .object({
    id: Id,
    name: KeyName,
    note: z.string().meta({ example: note }),
    scope: ApiKeyScope,
    secret: z
      .string()
      .describe('Begins with `svc_sk_`; returned exactly once.')
      .meta({ example: 'svc_sk_Jq3v0Yx8uR2mT7wK' }),
  })
  .meta({ id: 'CreatedApiKey' });
export type NewApiKeyAnswer = z.infer<typeof NewApiKeyAnswer>;

export const ApiKeyItem = z
  .object({
    id: Id,
    name: KeyName,
    scope: ApiKeyScope,
    created_at: EpochSeconds.describe('Epoch seconds.'),
    created_by: UserId,
    last_used_at: EpochSeconds.nullable().describe('True to the minute.'),
    revoked_at: EpochSeconds.nullable().meta({ example: null }),
    expires_at: EpochSeconds.nullable()
      .describe('From then on, the key is refused. Null for a key that does not expire.')
      .meta({ example: null }),
  })
  .meta({ id: 'ApiKey' });

/** Accepts the values of `Grant`. The error message repeats an unknown value. */
const RequestedGrant = z.enum(Grant.options, {
  error: ({ input }) => `unknown grant ${JSON.stringify(String(input).slice(0, 60))}`,
});

/** The body of a request for a new key. If `org_id` and `dept_id` are given, they must be those of the project. */
export const ApiKeyRequest = z.strictObject({
  name: VisibleText.min(1).max(200).meta({ example: 'Nightly import' }),
  org_id: OrganizationId.optional(),
  dept_id: Id.optional(),
  grants: z.array(RequestedGrant).min(1).max(50).optional().describe('The default is the default grants of the role.'),
});
export type ApiKeyRequest = z.infer<typeof ApiKeyRequest>;

/**
 * Creates a key for a project, with the role that the caller has there (specification, API keys 1 to 4).
 * @throws AppError `invalid_token` if the credential is not a user token; `scope_denied` for a role that is too low,
 * for another organization or department, and for a grant that the caller does not have
 */
export async function mintApiKey(
  deps: AuthDeps,
  principal: Principal,
  projectId: string,
  request: ApiKeyRequest,
): Promise<NewApiKeyAnswer> {
  const admin = await makerOn(deps, principal, projectId, request);
  const { record, secret } = await createApiKey(deps.mongo.collections, newKeyOf(admin, request));
  await revokeIfRoleChanged(deps, principal, admin, record);
  return { id: record.id, name: record.name, note, scope: record.scope, secret };
}

/**
 * Creates a key whose secret another party has, otherwise like `mintApiKey`. A repeated call returns the same key.
 * @throws AppError also `conflict` if the secret belongs to another key
 */
export async function mintHeldKey(
  deps: AuthDeps,
  principal: Principal,
  projectId: string,
  request: ApiKeyRequest,
  held: HeldKey,
): Promise<Omit<NewApiKeyAnswer, 'secret' | 'note'>> {
  const admin = await makerOn(deps, principal, projectId, request);
  const record = await createHeldKey(deps.mongo.collections, newKeyOf(admin, request), held);
  if (record.scope.user_id !== admin.userId || record.scope.project_id !== admin.projectId)
    throw new AppError('conflict', 'this request was already allowed, for another project or by another person');
  await revokeIfRoleChanged(deps, principal, admin, record);
  return { id: record.id, name: record.name, scope: record.scope };
}

async function makerOn(deps: AuthDeps, principal: Principal, projectId: string, request: ApiKeyRequest) {
  const admin = await adminOn(deps, principal, projectId, 'create');
  requireSame('org_id', request.org_id, admin.organizationId);
  requireSame('dept_id', request.dept_id, admin.departmentId);
  return admin;
}

function newKeyOf(admin: Principal, { name, grants }: ApiKeyRequest) {
  return {
    name,
    createdBy: admin.userId,
    scope: {
      org_id: admin.organizationId,
      dept_id: admin.departmentId,
      project_id: admin.projectId,
      user_id: admin.userId,
      role: admin.role,
      grants: grantsOf(admin, grants),
    },
  };
}

/** Reads the role again: a concurrent role change either finds the new key and revokes it, or is detected here. */
async function revokeIfRoleChanged(
  deps: AuthDeps,
  principal: Principal,
  admin: Principal,
  { _id }: ApiKeyDocument,
): Promise<void> {
  const present = await scopeOn(deps, principal, admin.projectId);
  if (present && haveSameRoles(present, admin)) return;
  await deps.mongo.collections.api_keys.updateOne({ _id }, { $set: { revoked_at: epochSeconds() } });
  throw new AppError('scope_denied', 'the role on this project was changed by another request');
}

export const ApiKeyListQuery = ListQuery.extend({ project_id: ProjectId.min(1) });
type ApiKeyListQuery = z.infer<typeof ApiKeyListQuery>;

/** Lists the keys of a project, including revoked ones, newest first. Never returns a secret or its hash. */
export async function listApiKeys(deps: AuthDeps, principal: Principal, { project_id, ...query }: ApiKeyListQuery) {
  const admin = await adminOn(deps, principal, project_id, 'list');
  // `_id` is a hash and has no chronological order.
  const filter = { 'scope.project_id': admin.projectId };
  const page = await listPage(deps.mongo.collections.api_keys, filter, query, 'created_at');
  return { ...page, data: page.data.map(toApiKeyItem) };
}

/**
 * Revokes a key immediately. Repeated calls change nothing.
 * @throws AppError `not_found` if the project has no such key
 */
export async function revokeApiKey(deps: AuthDeps, principal: Principal, projectId: string, id: string) {
  const admin = await adminOn(deps, principal, projectId, 'revoke');
  const { api_keys: keys } = deps.mongo.collections;
  const record = isId(id) ? await keys.findOne({ id }) : null;
  if (!record || record.scope.project_id !== admin.projectId) throw notFound('the API key');
  if (record.revoked_at === null) await keys.updateOne({ _id: record._id }, { $set: { revoked_at: epochSeconds() } });
  return { id, revoked: true as const };
}

/** Returns a person on the project of a key, whose rules and records cover the call. Other callers are refused later. */
export async function callerOn(deps: AuthDeps, principal: Principal, projectId: string): Promise<Principal> {
  const isElsewhere = principal.kind === 'user_jwt' && isPerson(principal) && projectId !== principal.projectId;
  return (isElsewhere ? await scopeOn(deps, principal, projectId) : undefined) ?? principal;
}

const roleNeeded = {
  create: 'API key creation requires an admin role on this project',
  list: 'API key listing requires an admin role on this project',
  revoke: 'API key revocation requires an admin role on this project',
};

/** Checks the caller's current role on the project, not the role in its token. */
async function adminOn(
  deps: AuthDeps,
  principal: Principal,
  projectId: string,
  act: keyof typeof roleNeeded,
): Promise<Principal> {
  if (principal.kind !== 'user_jwt' || !isPerson(principal))
    throw new AppError(
      'invalid_token',
      `${tokenInvalid}. ${credentialName(principal)} cannot ${act} keys: use a user token`,
    );
  const scoped = await scopeOn(deps, principal, projectId);
  if (!scoped || !isAdminRole(scoped.role)) throw new AppError('scope_denied', roleNeeded[act]);
  return scoped;
}

function credentialName({ kind, clientId }: Principal): string {
  if (clientId !== undefined) return 'OAuth clients';
  return kind === 'session' ? 'SDK sessions' : 'API keys';
}

function requireSame(field: string, requested: string | undefined, actual: string): void {
  if (requested === undefined || requested === actual) return;
  throw new AppError('scope_denied', `${field}: must be that of the project`);
}

function grantsOf(admin: Principal, requested: readonly Grant[] | undefined): readonly Grant[] {
  if (!requested) return defaultGrants(admin.role).filter((grant) => admin.grants.includes(grant));
  const grantable = grantableGrants(rolesOf(admin)).filter(
    (grant) => admin.tokenGrants === undefined || admin.grants.includes(grant),
  );
  const excess = requested.find((grant) => !grantable.includes(grant));
  if (excess) throw new AppError('scope_denied', `your role cannot give the grant ${excess}`);
  return [...new Set(requested)];
}

function toApiKeyItem(key: ApiKeyDocument) {
  const shown = pick(key, 'id', 'name', 'scope', 'created_at', 'created_by', 'last_used_at', 'revoked_at');
  return { ...shown, expires_at: key.expires_at ?? null };
}
