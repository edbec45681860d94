import { z } from 'zod';
import { AppError, notFound } from '../errors.js';
import { ListQuery } from '../http/lists.js';
import { isId } from '../ids.js';
import { epochSeconds } from '../time.js';
import { ApiKeyScope, createApiKey, type ApiKeyDocument } from './api-keys.js';
import type { AuthDeps } from './create-auth.js';
import { defaultGrants, grantableGrants, Grant, isAdminRole } from './grants.js';
import type { Principal } from './principal.js';
import { scopeOn } from './resolve-scope.js';
import { tokenInvalid } from './tokens.js';

const note = 'The secret is shown once and cannot be read again; store it now.';

/** The answer to creation (specification, API key). */
export const NewApiKeyAnswer = z
  .object({
    id: z.string(),
    name: z.string(),
    note: z.string(),
    scope: ApiKeyScope,
    secret: z.string().meta({ description: 'Begins with `svc_sk_`; returned exactly once.' }),
  })
  .meta({ id: 'NewApiKey' });
export type NewApiKeyAnswer = z.infer<typeof NewApiKeyAnswer>;

export const ApiKeyItem = z
  .object({
    id: z.string(),
    name: z.string(),
    scope: ApiKeyScope,
    created_at: z.number().meta({ description: 'Epoch seconds.' }),
    created_by: z.string(),
    last_used_at: z.number().nullable().meta({ description: 'True to the minute.' }),
    revoked_at: z.number().nullable(),
  })
  .meta({ id: 'ApiKey' });

/** As `Grant`, but its refusal names what was sent. */
const AskedGrant = z.enum(Grant.options, { error: ({ input }) => `unknown grant ${JSON.stringify(String(input).slice(0, 60))}` });

/** What is asked of a new key; organization and department, where given, must be the project's. */
export const ApiKeyRequest = z.strictObject({
  name: z.string().trim().min(1).max(200),
  org_id: z.string().optional(),
  dept_id: z.string().optional(),
  grants: z.array(AskedGrant).min(1).max(50).optional().meta({ description: 'None: the default of the role.' }),
});
export type ApiKeyRequest = z.infer<typeof ApiKeyRequest>;

/**
 * Mints a key on a project, with the minter's role there (specification, API keys 1 to 4).
 * @throws AppError `invalid_token` for a credential that is no user token, `S2:resolve-scope` for a lower role, another
 * organization or department, and a grant that the minter lacks
 */
export async function mintApiKey(
  deps: AuthDeps,
  principal: Principal,
  projectId: string,
  request: ApiKeyRequest,
): Promise<NewApiKeyAnswer> {
  const admin = await adminOn(deps, principal, projectId, 'API key creation requires an admin role on this project');
  requireSame('org_id', request.org_id, admin.organizationId);
  requireSame('dept_id', request.dept_id, admin.departmentId);
  const { record, secret } = await createApiKey(deps.mongo.collections, {
    name: request.name,
    createdBy: admin.userId,
    scope: {
      org_id: admin.organizationId,
      dept_id: admin.departmentId,
      project_id: admin.projectId,
      user_id: admin.userId,
      role: admin.role,
      grants: grantsOf(admin, request.grants),
    },
  });
  // Whoever takes the role away meanwhile either finds this key and revokes it, or is seen by the second look.
  const present = await scopeOn(deps, principal, projectId);
  if (present?.role !== admin.role) {
    await deps.mongo.collections.api_keys.updateOne({ _id: record._id }, { $set: { revoked_at: epochSeconds() } });
    throw new AppError('S2:resolve-scope', 'the role on this project was changed meanwhile');
  }
  return { id: record.id, name: record.name, note, scope: record.scope, secret };
}

export const ApiKeyListQuery = ListQuery.extend({ project_id: z.string().min(1) });
type ApiKeyListQuery = z.infer<typeof ApiKeyListQuery>;

/** The keys of a project, revoked ones too, newest first; never a secret or its hash. */
export async function listApiKeys(deps: AuthDeps, principal: Principal, { project_id, limit, cursor }: ApiKeyListQuery) {
  const admin = await adminOn(deps, principal, project_id, 'API keys are listed by an admin of this project');
  if (cursor !== undefined && !isId(cursor)) throw new AppError('invalid_request', 'cursor: not a cursor of this list');
  const { api_keys: keys } = deps.mongo.collections;
  const filter = { 'scope.project_id': admin.projectId };
  const page = cursor === undefined ? filter : { ...filter, id: { $lt: cursor } };
  const [total_count, found] = await Promise.all([
    keys.countDocuments(filter),
    // By the public id, a UUIDv7; `_id` is a hash and has no order in time.
    keys.find(page).sort({ id: -1 }).limit(limit + 1).toArray(),
  ]);
  const data = found.slice(0, limit).map(itemOf);
  return { data, total_count, next_cursor: found.length > limit ? (data.at(-1)?.id ?? null) : null };
}

/** Revokes at once, and again without change. @throws AppError `not_found` for a key that the project does not have */
export async function revokeApiKey(deps: AuthDeps, principal: Principal, projectId: string, id: string) {
  const admin = await adminOn(deps, principal, projectId, 'API keys are revoked by an admin of this project');
  const { api_keys: keys } = deps.mongo.collections;
  const record = isId(id) ? await keys.findOne({ id }) : null;
  if (!record || record.scope.project_id !== admin.projectId) throw notFound('the API key');
  if (record.revoked_at === null) await keys.updateOne({ _id: record._id }, { $set: { revoked_at: epochSeconds() } });
  return { id, revoked: true as const };
}

/** The caller's present role on the project decides, not the one that its token was made with. */
async function adminOn(deps: AuthDeps, principal: Principal, projectId: string, refusal: string): Promise<Principal> {
  if (principal.kind !== 'user_jwt' || principal.clientId !== undefined) throw new AppError('invalid_token', tokenInvalid);
  const scoped = await scopeOn(deps, principal, projectId);
  if (!scoped || !isAdminRole(scoped.role)) throw new AppError('S2:resolve-scope', refusal);
  return scoped;
}

function requireSame(field: string, asked: string | undefined, present: string): void {
  if (asked === undefined || asked === present) return;
  throw new AppError('S2:resolve-scope', `${field}: the project does not belong to it`);
}

function grantsOf(admin: Principal, asked: readonly Grant[] | undefined): readonly Grant[] {
  if (!asked) return defaultGrants(admin.role).filter((grant) => admin.grants.includes(grant));
  const grantable = admin.tokenGrants ? admin.grants : grantableGrants(admin.role);
  const beyond = asked.find((grant) => !grantable.includes(grant));
  if (beyond) throw new AppError('S2:resolve-scope', `the grant ${beyond} is more than the minter of the key has`);
  return [...new Set(asked)];
}

function itemOf({ id, name, scope, created_at, created_by, last_used_at, revoked_at }: ApiKeyDocument) {
  return { id, name, scope, created_at, created_by, last_used_at, revoked_at };
}
