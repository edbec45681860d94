import { z } from 'zod';
import { Id } from '../../base/ids.js';
import { NewSkill } from '../agentflows/record/skills.js';
import type { Deps } from '../deps.js';
import { saveSkill } from '../skills/operations.js';
import { createSkillRules } from '../caused-rules.js';
import { defineTool } from '../../governance/tools/tool.js';

const Output = z
  .object({ skill_id: Id, name: z.string().meta({ example: 'Claims register' }) })
  .meta({ id: 'SavedSkill' });

/** Saves a skill for agents (contract, `POST /v1/save-skill`). */
export const saveSkillTool = defineTool(createSkillRules, ({ mongo }: Pick<Deps, 'mongo'>) => ({
  title: 'Save a skill',
  description: 'Saves a skill with its actions; agents of the project can then hold it.',
  input: NewSkill,
  output: Output,
  hints: { readOnly: false, destructive: false, idempotent: false },
  resource: ({ name }) => ({ type: 'skill', id: name }),
  dryRun: async ({ name }) => ({ save: { skill: name } }),
  execute: async (input, { principal, recordId }) => {
    const { _id, name } = await saveSkill(mongo.collections, principal, input, recordId);
    return { body: { skill_id: _id, name } };
  },
}));
