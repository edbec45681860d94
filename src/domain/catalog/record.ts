import { z } from 'zod';
import { EpochSeconds } from '../../base/time.js';

export const NewRepositoryBinding = z
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
      .describe('Accept only pushes to this branch; all branches by default.'),
  })
  .meta({ id: 'BindRepositoryInput', example: { repository: 'octo/catalog', branch: 'main' } });

export const RepositoryBinding = z
  .object({
    repository: z.string().meta({ example: 'octo/catalog' }),
    branch: z.string().nullable().meta({ example: 'main' }),
    bound_at: EpochSeconds,
    webhook_path: z
      .string()
      .describe('The path to which the code host sends its pushes.')
      .meta({ example: '/v1/codesync/webhook/github' }),
    webhook_secret: z
      .string()
      .describe("Returned once. Enter it as the webhook's secret at the code host; binding again replaces it.")
      .meta({ example: 'Jq3v0Yx8uR2mT7wKb5nH1sLdF4gZ6cVaE9pXyOiUtQ0' }),
  })
  .meta({ id: 'RepositoryBinding' });
export type RepositoryBinding = z.infer<typeof RepositoryBinding>;

/** The answer to whoever binds a repository. */
export function toBinding(
  binding: Pick<RepositoryBinding, 'repository' | 'branch'>,
  { secret, bound_at }: { secret: string; bound_at: number },
): RepositoryBinding {
  return { ...binding, bound_at, webhook_path: '/v1/codesync/webhook/github', webhook_secret: secret };
}
