import { freeText, type Operation } from '../../governance/operations/operation.js';
import { z } from 'zod';
import type { SecretBox } from '../../auth/secret-box.js';
import { bindRepository, refuseOtherOwner } from '../connectors/operations/repositories.js';
import type { Collections } from '../../stores/collections.js';
import { defineTool, type Tool } from '../../governance/tools/tool.js';
import { EpochSeconds } from '../../time.js';

const Input = z
  .strictObject({
    repository: z
      .string()
      .max(200)
      .regex(/^[\w.-]+\/[\w.-]+$/, 'must be owner/name'),
    branch: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .meta({ description: 'Accept only pushes to this branch; all branches by default.' }),
  })
  .meta({ id: 'BindRepositoryInput', example: { repository: 'octo/catalog', branch: 'main' } });

const Output = z
  .object({
    repository: z.string().meta({ example: 'octo/catalog' }),
    branch: z.string().nullable().meta({ example: 'main' }),
    bound_at: EpochSeconds,
    webhook_path: z
      .string()
      .meta({
        description: 'The path to which the code host sends its pushes.',
        example: '/v1/codesync/webhook/github',
      }),
    webhook_secret: z
      .string()
      .meta({
        description: "Returned once. Enter it as the webhook's secret at the code host; binding again replaces it.",
        example: 'Jq3v0Yx8uR2mT7wKb5nH1sLdF4gZ6cVaE9pXyOiUtQ0',
      }),
  })
  .meta({ id: 'RepositoryBinding' });

export const bindRepositoryOperation: Operation = {
  name: 'bind-repository',
  grant: 'svc:codesync.write',
  effect: 'write',
  facts: { repository: freeText('repository') },
};

/** Connects a repository's pushes to the project (contract, `POST /v1/bind-repository`). */
export function createBindRepositoryTool({ collections, box }: { collections: Collections; box: SecretBox }): Tool {
  return defineTool({
    name: 'bind-repository',
    operation: bindRepositoryOperation,
    title: 'Follow a repository',
    description:
      'Connects the pushes of a repository to the project and issues the secret that signs them. Only one organization can follow a repository.',
    input: Input,
    output: Output,
    hints: { readOnly: false, destructive: false, idempotent: false },
    resource: ({ repository }) => ({ type: 'repository', id: repository }),
    prepare: async (input) => ({ repository: input.repository.toLowerCase(), branch: input.branch ?? null }),
    dryRun: async (binding, { organizationId }) => {
      await refuseOtherOwner(collections, binding.repository, organizationId);
      return { bind: binding };
    },
    execute: async ({ repository, branch }, { projectId, organizationId, principal }) => {
      const { secret, bound_at } = await bindRepository(collections, box, {
        repository,
        branch,
        projectId,
        organizationId,
        userId: principal.userId,
      });
      return {
        body: { repository, branch, bound_at, webhook_path: '/v1/codesync/webhook/github', webhook_secret: secret },
      };
    },
  });
}
