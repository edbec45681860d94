import { z } from 'zod';
import { actorOf, holdsGrant, isPerson, type Principal } from '../../auth/principal.js';
import { AppError, notFound } from '../../base/errors.js';
import { requirePermission } from '../../auth/require-grant.js';
import { listOf, listPage, ListQuery } from '../../stores/lists.js';
import { Id, exampleId, isId } from '../../base/ids.js';
import { epochSeconds } from '../../base/time.js';
import { Scope } from '../../auth/oauth/scopes.js';
import { auditGrant } from '../../auth/oauth/audit-grant.js';
import type { OauthGrantDocument } from '../../auth/oauth/grants.js';
import { textFacts } from '../../governance/operations/operation.js';
import type { Deps } from '../deps.js';
import { defineOperation } from '../operation.js';

const ConnectedApp = z
  .object({
    id: z.string(),
    client_id: z.string(),
    client_name: z.string().describe('The name that the app gave itself; it is not verified.'),
    user_id: z.string(),
    project_id: z.string(),
    scopes: z.array(Scope),
    created_at: z.number().describe('Epoch seconds.'),
    last_used_at: z.number().nullable().describe('Accurate to the minute.'),
    expires_at: z.number().describe('When the connection ends if the app is not used again.'),
  })
  .meta({
    id: 'ConnectedApp',
    example: {
      id: exampleId,
      client_id: 'https://desk.example.com/client.json',
      client_name: 'Desk assistant',
      user_id: 'user_1',
      project_id: 'project_1',
      scopes: ['svc:query.read'],
      created_at: 1763683200.5,
      last_used_at: 1763683260.5,
      expires_at: 1766275200.5,
    },
  });
type ConnectedApp = z.infer<typeof ConnectedApp>;

const Query = ListQuery.extend({
  everyone: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Lists the apps of all people on the project of the credential; requires `svc:governance.read`.'),
});
type Query = z.infer<typeof Query>;

const errors = ['scope_denied'] as const;

/** The apps that act for people through OAuth grants. People list and end their own, administrators those of their project. */
export const listApps = defineOperation({
  name: 'connected-app.list',
  effect: 'read',
  grant: 'any',
  input: Query,
  output: listOf(ConnectedApp),
  errors,
  run: ({ deps, ctx, input }) => listConnectedApps(deps, ctx.principal, input),
});

export const disconnectApp = defineOperation({
  name: 'connected-app.end',
  effect: 'write',
  grant: 'any',
  facts: textFacts('id'),
  key: z.object({ id: Id }),
  output: z.object({ id: Id, ended: z.literal(true) }),
  errors: ['not_found'],
  run: ({ deps, ctx, key: { id } }) => endConnectedApp(deps, ctx.principal, id),
});

async function listConnectedApps({ mongo: { collections } }: Deps, principal: Principal, { everyone, ...page }: Query) {
  // What people have allowed to apps is their own: of people, only administrators see it.
  if (everyone === 'true') requirePermission(principal, { grant: 'svc:governance.read', right: ['manage'] });
  else if (!isPerson(principal))
    throw new AppError('scope_denied', 'listing connected apps requires a user token or a session');
  const whose = everyone === 'true' ? { project_id: principal.projectId } : { user_id: principal.userId };
  const { data, ...rest } = await listPage(
    collections.oauth_grants,
    { ...whose, revoked_at: null, refresh_until: { $gt: epochSeconds() } },
    page,
  );
  const clients = await collections.oauth_clients
    .find({ _id: { $in: data.map(({ client_id }) => client_id) } })
    .toArray();
  const names = new Map(clients.map(({ _id, client_name }) => [_id, client_name]));
  return { ...rest, data: data.map((grant) => toConnectedApp(grant, names.get(grant.client_id) ?? '')) };
}

function toConnectedApp(
  { _id, client_id, user_id, project_id, scopes, created_at, last_used_at, refresh_until }: OauthGrantDocument,
  client_name: string,
): ConnectedApp {
  return {
    id: _id,
    client_id,
    client_name,
    user_id,
    project_id,
    scopes,
    created_at,
    last_used_at: last_used_at ?? null,
    expires_at: refresh_until,
  };
}

/**
 * @throws AppError `not_found` for an unknown id, for an app that has already ended, and for one that the caller may
 * not end
 */
async function endConnectedApp(deps: Deps, principal: Principal, id: string) {
  const grant = isId(id) ? await deps.mongo.collections.oauth_grants.findOne({ _id: id }) : null;
  const isOwn = isPerson(principal) && grant?.user_id === principal.userId;
  const administers = holdsGrant(principal, 'svc:governance.write') && grant?.project_id === principal.projectId;
  if (!grant || !(isOwn || administers)) throw notFound('the connected app');
  const ended = await deps.oauth.grants.revoke(id, `ended by ${principal.userId}`);
  if (!ended) throw notFound('the connected app');
  await auditGrant(deps, ended, 'connected-app-end', actorOf(principal));
  return { id, ended: true as const };
}
