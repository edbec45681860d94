import { freeText } from '../../governance/operations/operation.js';
import { bindRepository, refuseOtherOwner } from '../connectors/operations/repositories.js';
import type { Deps } from '../deps.js';
import { defineTool } from '../../governance/tools/tool.js';
import { NewRepositoryBinding, RepositoryBinding, toBinding } from '../catalog/record.js';

/** Connects a repository's pushes to the project (contract, `POST /v1/bind-repository`). */
export const bindRepositoryTool = defineTool(
  {
    name: 'bind-repository',
    grant: 'svc:codesync.write',
    effect: 'write',
    facts: { repository: freeText('repository') },
  },
  ({ mongo: { collections }, auth: { box } }: Pick<Deps, 'mongo' | 'auth'>) => ({
    title: 'Follow a repository',
    description:
      'Connects the pushes of a repository to the project and issues the secret that signs them. Only one organization can follow a repository.',
    input: NewRepositoryBinding,
    output: RepositoryBinding,
    hints: { readOnly: false, destructive: false, idempotent: false },
    resource: ({ repository }) => ({ type: 'repository', id: repository }),
    prepare: async (input) => ({ repository: input.repository.toLowerCase(), branch: input.branch ?? null }),
    dryRun: async (binding, { organizationId }) => {
      await refuseOtherOwner(collections, binding.repository, organizationId);
      return { bind: binding };
    },
    execute: async ({ repository, branch }, { projectId, organizationId, principal }) => {
      const { userId } = principal;
      const bound = await bindRepository(collections, box, { repository, branch, projectId, organizationId, userId });
      return { body: toBinding({ repository, branch }, bound) };
    },
  }),
);
