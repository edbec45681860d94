import { textFacts } from '../../governance/operations/operation.js';
import { z } from 'zod';
import { epochSeconds } from '../../base/time.js';
import { defineOperation } from '../operation.js';

const Model = z
  .strictObject({
    model: z.string().min(1).max(200),
    temperature: z.number().min(0).max(2).nullable().default(null).describe('If null, it is not sent.'),
    max_tokens: z.int().min(1).max(1_000_000).nullable().default(null).describe('If null, no limit is sent.'),
  })
  .meta({ id: 'ModelSettings', example: { model: 'gpt-4.1-mini', temperature: 0.2, max_tokens: 2048 } });

/** Sets the project's default model (docs/specification.md, `POST /v1/save-model`). */
export const saveModel = defineOperation({
  name: 'save-model',
  grant: 'svc:model.write',
  effect: 'write',
  facts: textFacts('model'),
  tool: {
    title: 'Set the default model',
    description: 'Sets the model settings that agents of the project use when they do not name a model.',
    hints: { readOnly: false, destructive: false, idempotent: true },
  },
  input: Model,
  output: Model,
  resource: ({ input }) => ({ type: 'model', id: input.model }),
  dryRun: async ({ input }) => ({ save: input }),
  async run({ deps, ctx: { principal }, input }) {
    const { projectId, organizationId, userId } = principal;
    const fields = { ...input, organization_id: organizationId, updated_at: epochSeconds(), updated_by: userId };
    await deps.mongo.collections.project_models.updateOne({ _id: projectId }, { $set: fields }, { upsert: true });
    return input;
  },
});
