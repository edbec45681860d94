import { freeText } from '../../governance/operations/operation.js';
import { bindRepository, refuseOtherOwner } from '../connectors/operations/repositories.js';
import { NewRepositoryBinding, RepositoryBinding, toBinding } from '../catalog/record.js';
import { defineOperation } from '../operation.js';

/** Connects a repository's pushes to the project (docs/specification.md, `POST /v1/bind-repository`). */
export const followRepository = defineOperation({
  name: 'bind-repository',
  grant: 'svc:codesync.write',
  effect: 'write',
  facts: { repository: freeText('repository') },
  tool: {
    title: 'Follow a repository',
    description:
      'Connects the pushes of a repository to the project and issues the secret that signs them. Only one organization can follow a repository.',
    hints: { readOnly: false, destructive: false, idempotent: false },
  },
  input: NewRepositoryBinding,
  output: RepositoryBinding,
  resource: ({ input }) => ({ type: 'repository', id: input.repository }),
  prepare: async ({ input }) => ({ repository: input.repository.toLowerCase(), branch: input.branch ?? null }),
  async dryRun({ deps, ctx: { principal }, prepared }) {
    await refuseOtherOwner(deps.mongo.collections, prepared.repository, principal.organizationId);
    return { bind: prepared };
  },
  async run({ deps: { mongo, auth }, ctx: { principal }, prepared }) {
    const { projectId, organizationId, userId } = principal;
    const binding = { ...prepared, projectId, organizationId, userId };
    return toBinding(prepared, await bindRepository(mongo.collections, auth.box, binding));
  },
});
