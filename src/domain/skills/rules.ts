import { freeText, type Operation } from '../../governance/operations/operation.js';

/** Rules treat creating a skill as one operation, by the route and by `save-skill` of the gateway. */
export const createSkillRules: Operation = {
  name: 'skill.create',
  alias: 'save-skill',
  grant: 'svc:skill.write',
  effect: 'write',
  facts: { name: freeText('name') },
};
