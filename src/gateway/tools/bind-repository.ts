import { z } from 'zod';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../time.js';
import { defineTool, type Tool } from '../tool.js';

const Input = z
  .strictObject({
    repository: z.string().max(200).regex(/^[\w.-]+\/[\w.-]+$/, 'must be owner/name'),
    branch: z.string().min(1).max(255).optional().meta({ description: 'Only pushes to this branch; all when left out.' }),
  })
  .meta({ id: 'BindRepositoryInput', example: { repository: 'octo/catalog', branch: 'main' } });

const Output = z.object({ repository: z.string(), branch: z.string().nullable(), bound_at: z.number() });

/** `_id` is `<repository>|<project id>`, in lower case: several projects may follow one repository. */
export interface RepositoryBindingDocument {
  _id: string;
  repository: string;
  branch: string | null;
  project_id: string;
  organization_id: string;
  bound_by: string;
  bound_at: number;
}

/** Makes the pushes of a repository known to the project (contract, `POST /v1/bind-repository`). */
export function createBindRepositoryTool({ collections }: { collections: Collections }): Tool {
  return defineTool({
    name: 'bind-repository',
    title: 'Follow a repository',
    description: 'Makes the code-hosting pushes of a repository known to the project.',
    grant: 'svc:codesync.write',
    input: Input,
    output: Output,
    hints: { readOnly: false, destructive: false, idempotent: true },
    resource: ({ repository }) => ({ type: 'repository', id: repository }),
    prepare: async (input) => ({ repository: input.repository.toLowerCase(), branch: input.branch ?? null }),
    dryRun: async (binding) => ({ bind: binding }),
    execute: async ({ repository, branch }, { projectId, organizationId, principal }) => {
      const bound_at = epochSeconds();
      const fields = { repository, branch, project_id: projectId, organization_id: organizationId, bound_by: principal.userId, bound_at };
      await collections.repository_bindings.updateOne({ _id: `${repository}|${projectId}` }, { $set: fields }, { upsert: true });
      return { body: { repository, branch, bound_at } };
    },
  });
}
