import { QueryRejectedError } from '@temporalio/client';
import { z } from 'zod';
import { catalogSyncWorkflowId, stateQuery, type CatalogSyncState } from '../../../workflows/catalog-sync/messages.js';
import { AppError, isAppError, notFound } from '../../base/errors.js';
import { freeText } from '../../governance/operations/operation.js';
import { isWorkflowGone } from '../../temporal/client.js';
import { EpochSeconds } from '../../base/time.js';
import { bindRepository, unbindRepository } from '../connectors/operations/repositories.js';
import type { Deps } from '../deps.js';
import { defineOperation, manages, reads, writes } from '../operation.js';
import { catalogSync } from '../service-operations.js';
import { createCatalogNotifier } from './notify.js';
import { NewRepositoryBinding, RepositoryBinding, toBinding } from './record.js';
import { createCatalogScope } from './scope.js';
export { catalogSightingsCollection } from './sightings.js';

const CatalogState = z.object({
  state: z
    .enum(['idle', 'waiting', 'running', 'retrying', 'unknown'])
    .describe(
      '`waiting`: for events to stop. `retrying`: the last attempt of the running sync failed. `unknown`: no worker answers.',
    )
    .meta({ example: 'idle' }),
  waiting_events: z.int().describe('The events that the next sync is for.').meta({ example: 0 }),
  waiting_for: z.array(z.string()).describe('A few of the changed entities.').meta({ example: [] }),
  waiting_since: EpochSeconds.nullable().meta({ example: null }),
  run_id: z.string().nullable().describe('The lifecycle of the running sync.').meta({ example: null }),
  started_at: EpochSeconds.nullable().meta({ example: null }),
  failure: z.string().nullable().describe('Why the last attempt failed.').meta({ example: null }),
});

const Syncs = z
  .object({
    catalog: CatalogState.nullable().describe('Null if the catalog is not synced into this project.'),
    repositories: z.array(
      z.object({
        repository: z.string().meta({ example: 'acme/claims' }),
        branch: z.string().nullable().describe('Null: every branch.').meta({ example: 'main' }),
        bound_by: z.string().meta({ example: 'user_1' }),
        bound_at: EpochSeconds,
        has_signed: z.boolean().describe('A push was signed with the secret of the binding.'),
      }),
    ),
  })
  .meta({ id: 'Syncs' });

/** The individual runs are lifecycles of the tools `catalog-sync`, `code-sync` and `catalog-ingest`. */
export const readSyncs = defineOperation({
  name: 'sync.read',
  ...reads,
  output: Syncs,
  async run({ deps, ctx: { principal } }) {
    const { projectId } = principal;
    const [isScope, bindings] = await Promise.all([
      receivesCatalog(deps, projectId),
      deps.mongo.collections.repository_bindings
        .find({ project_id: projectId }, { sort: { _id: 1 }, limit: 200 })
        .toArray(),
    ]);
    return {
      catalog: isScope ? await catalogState(deps, projectId) : null,
      repositories: bindings.map(({ repository, branch, bound_by, bound_at, secret_confirmed = false }) => ({
        ...{ repository, branch, bound_by, bound_at },
        has_signed: secret_confirmed,
      })),
    };
  },
});

/** Requires an admin role instead of `svc:codesync.write`, which no role has by default but admins can give to keys. */
const ofAdmins = { ...manages, adminOnly: true, facts: { repository: freeText('repository') } } as const;

/** The rules for the tool `bind-repository` apply. Throws `conflict` if another organization follows the repository. */
export const followRepository = defineOperation({
  ...ofAdmins,
  name: 'bind-repository',
  input: NewRepositoryBinding.extend({ projectID: z.string().optional() }).meta({
    id: 'FollowRepositoryInput',
    example: { repository: 'octo/catalog', branch: 'main' },
  }),
  // The answer of the tool has this schema and the id of its lifecycle.
  output: RepositoryBinding.extend({}).meta({ id: 'FollowedRepository' }),
  errors: ['conflict'],
  async run({ deps, ctx: { principal }, input }) {
    const binding = { repository: input.repository.toLowerCase(), branch: input.branch ?? null };
    const { projectId, organizationId, userId } = principal;
    const { collections } = deps.mongo;
    const bound = await bindRepository(collections, deps.auth.box, { ...binding, projectId, organizationId, userId });
    return toBinding(binding, bound);
  },
});

/** From then on, pushes of the repository are ignored. What earlier pushes wrote stays. */
export const unfollowRepository = defineOperation({
  ...ofAdmins,
  name: 'sync.unfollow',
  key: z.object({ repository: z.string().max(200).meta({ example: 'acme/claims' }) }),
  output: z.object({ repository: z.string().meta({ example: 'acme/claims' }) }).meta({ id: 'UnfollowedRepository' }),
  errors: ['not_found'],
  async run({ deps, ctx: { principal }, key }) {
    const repository = key.repository.toLowerCase();
    if (!(await unbindRepository(deps.mongo.collections, principal.projectId, repository)))
      throw notFound('the repository');
    return { repository };
  },
});

/** Throws `conflict` if the catalog is not synced into this project. */
export const startCatalogSync = defineOperation({
  name: 'sync.start',
  ...writes,
  causes: [{ operation: catalogSync, calls: () => [{ input: {} }] }],
  output: CatalogState.meta({ id: 'CatalogSyncState' }),
  errors: ['conflict', 'unavailable'],
  async run({ deps, ctx: { principal } }) {
    const { projectId, organizationId } = principal;
    if (!(await receivesCatalog(deps, projectId)))
      throw new AppError('conflict', 'the catalog is not synced into this project');
    const scope = { project_id: projectId, organization_id: organizationId };
    await createCatalogNotifier(deps)(scope, { events: 1, entities: [] });
    return catalogState(deps, projectId);
  },
});

async function receivesCatalog(deps: Pick<Deps, 'config' | 'mongo'>, projectId: string): Promise<boolean> {
  try {
    return (await createCatalogScope(deps)()).project_id === projectId;
  } catch (error) {
    if (isAppError(error) && error.code === 'unconfigured') return false;
    throw error;
  }
}

const queryTimeoutMs = 2000;
type State = z.infer<typeof CatalogState>;

async function catalogState({ temporal }: Pick<Deps, 'temporal'>, projectId: string): Promise<State> {
  try {
    return toState(await temporal.queryOpenRun(catalogSyncWorkflowId(projectId), stateQuery, queryTimeoutMs));
  } catch (error) {
    // The workflow has ended because nothing was pending, or it was never started.
    if (error instanceof QueryRejectedError || isWorkflowGone(error)) return toState(undefined);
    if (isAppError(error)) return { ...toState(undefined), state: 'unknown' };
    throw error;
  }
}

function toState({ pending, run, progress }: Partial<CatalogSyncState> = {}): State {
  const running = run?.ended_at === null ? run : undefined;
  const failure = progress?.failure?.message ?? null;
  const active = failure === null ? ('running' as const) : ('retrying' as const);
  return {
    state: running ? active : pending ? 'waiting' : 'idle',
    waiting_events: pending?.events ?? 0,
    waiting_for: pending?.entities ?? [],
    waiting_since: pending ? pending.first_at / 1000 : null,
    run_id: running?.run_id ?? null,
    started_at: running ? running.started_at / 1000 : null,
    failure: running ? failure : null,
  };
}
