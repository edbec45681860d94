import { freeText, type Operation } from '../../governance/operations/operation.js';

/** Creating a skill is one operation for rules, whether a route or `save-skill` of the gateway asks for it. */
export const createSkillRules: Operation = {
  name: 'skill.create',
  alias: 'save-skill',
  grant: 'svc:skill.write',
  effect: 'write',
  facts: { name: freeText('name') },
};
