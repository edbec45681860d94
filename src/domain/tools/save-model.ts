import { textFacts } from '../../governance/operations/operation.js';
import { z } from 'zod';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../base/time.js';
import { defineTool } from '../../governance/tools/tool.js';

const Model = z
  .strictObject({
    model: z.string().min(1).max(200),
    temperature: z.number().min(0).max(2).nullable().default(null).describe('If null, it is not sent.'),
    max_tokens: z.int().min(1).max(1_000_000).nullable().default(null).describe('If null, no limit is sent.'),
  })
  .meta({ id: 'ModelSettings', example: { model: 'gpt-4.1-mini', temperature: 0.2, max_tokens: 2048 } });

/** Sets the project's default model (contract, `POST /v1/save-model`). */
export const saveModelTool = defineTool(
  { name: 'save-model', grant: 'svc:model.write', effect: 'write', facts: textFacts('model') },
  ({ collections }: { collections: Collections }) => ({
    title: 'Set the default model',
    description: 'Sets the model settings that agents of the project use when they do not name a model.',
    input: Model,
    output: Model,
    hints: { readOnly: false, destructive: false, idempotent: true },
    resource: ({ model }) => ({ type: 'model', id: model }),
    dryRun: async (settings) => ({ save: settings }),
    execute: async (settings, { projectId, organizationId, principal }) => {
      const fields = {
        ...settings,
        organization_id: organizationId,
        updated_at: epochSeconds(),
        updated_by: principal.userId,
      };
      await collections.project_models.updateOne({ _id: projectId }, { $set: fields }, { upsert: true });
      return { body: settings };
    },
  }),
);
