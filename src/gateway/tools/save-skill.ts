import { z } from 'zod';
import type { PlatformPorts } from '../ports.js';
import { defineTool, type Tool } from '../tool.js';

const Output = z.object({ skill_id: z.string(), name: z.string() });

/** Saves a skill that agents can hold (contract, `POST /v1/save-skill`). */
export function createSaveSkillTool({ skills }: Pick<PlatformPorts, 'skills'>): Tool {
  return defineTool({
    name: 'save-skill',
    title: 'Save a skill',
    description: 'Saves a skill with its actions; agents of the project can then hold it.',
    grant: 'svc:skill.write',
    input: skills.request,
    output: Output,
    hints: { readOnly: false, destructive: false, idempotent: false },
    resource: ({ name }) => ({ type: 'skill', id: name }),
    prepare: async (input) => input,
    dryRun: async ({ name }) => ({ save: { skill: name } }),
    execute: async (input, { principal }) => {
      const { _id, name } = await skills.save(principal, input);
      return { body: { skill_id: _id, name } };
    },
  });
}
