import { z } from 'zod';
import { Id } from '../../base/ids.js';
import { NewSkill } from '../agentflows/record/skills.js';
import { saveSkill } from '../skills/operations.js';
import { createSkillRules } from '../caused-rules.js';
import { defineOperation } from '../operation.js';

const Output = z
  .object({ skill_id: Id, name: z.string().meta({ example: 'Claims register' }) })
  .meta({ id: 'SavedSkill' });

/** Saves a skill for agents (docs/specification.md, `POST /v1/save-skill`). */
export const saveSkillByTool = defineOperation({
  ...createSkillRules,
  tool: {
    title: 'Save a skill',
    description: 'Saves a skill with its actions; agents of the project can then hold it.',
    hints: { readOnly: false, destructive: false, idempotent: false },
  },
  input: NewSkill,
  output: Output,
  resource: ({ input }) => ({ type: 'skill', id: input.name }),
  dryRun: async ({ input }) => ({ save: { skill: input.name } }),
  async run({ deps, ctx: { principal, recordId }, input }) {
    const { _id, name } = await saveSkill(deps.mongo.collections, principal, input, recordId);
    return { skill_id: _id, name };
  },
});
