import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import { AppError, notFound } from '../../base/errors.js';
import { textFacts } from '../../governance/operations/operation.js';
import type { Collections } from '../../stores/collections.js';
import { listOf, listPage, ListQuery } from '../../stores/lists.js';
import { insertOnce } from '../../stores/insert-once.js';
import { skillProblems, newSkill } from '../agentflows/rules.js';
import { NewSkill, Skill } from '../agentflows/record/skills.js';
import { findConnector } from '../connectors/operations/store.js';
import { mcpToolProblems } from '../mcp-servers/operations/plan-tools.js';
import { defineOperation, reads } from '../operation.js';
import { createSkillRules } from '../caused-rules.js';
import { Id } from '../../base/ids.js';
export { skillsCollection } from './record.js';

const key = z.object({ id: Id });

export const listSkills = defineOperation({
  name: 'skill.list',
  ...reads,
  input: ListQuery,
  output: listOf(Skill),
  run: ({ deps, ctx, input }) =>
    listPage(deps.mongo.collections.skills, { projectID: ctx.principal.projectId, is_deleted: false }, input),
});

export const readSkill = defineOperation({
  name: 'skill.read',
  ...reads,
  key,
  output: Skill,
  run: ({ deps, ctx, key: { id } }) => findSkill(deps.mongo.collections, ctx.principal, id),
});

export const createSkill = defineOperation({
  ...createSkillRules,
  input: NewSkill.omit({ _id: true })
    .extend({ projectID: z.string().optional() })
    .meta({ example: NewSkill.meta()?.example }),
  output: Skill,
  errors: ['validation_failed'],
  run: ({ deps, ctx, input: { projectID: _checked, ...skill } }) =>
    saveSkill(deps.mongo.collections, ctx.principal, skill, ctx.recordId),
});

export const deleteSkill = defineOperation({
  name: 'skill.delete',
  effect: 'write',
  grant: 'svc:skill.write',
  facts: textFacts('id'),
  key,
  output: Skill,
  async run({ deps, ctx, key: { id } }) {
    const { collections } = deps.mongo;
    const skill = await findSkill(collections, ctx.principal, id);
    await collections.skills.updateOne({ _id: id }, { $set: { is_deleted: true } });
    return { ...skill, is_deleted: true };
  },
});

async function findSkill(collections: Collections, principal: Principal, id: string): Promise<Skill> {
  const skill = await collections.skills.findOne({ _id: id });
  if (!skill || skill.is_deleted || skill.projectID !== principal.projectId) throw notFound('the skill');
  return skill;
}

/** @throws AppError `validation_failed` for pointers to unknown actions or connectors, and for cycles */
export async function saveSkill(
  collections: Collections,
  principal: Principal,
  request: NewSkill,
  id: string,
): Promise<Skill> {
  const skill = newSkill({ ...request, _id: id }, principal);
  const problems = skillProblems('skill', skill);
  if (skill.connector_id !== null)
    problems.push(...(await connectorProblems(collections, principal, skill.connector_id)));
  problems.push(...(await mcpToolProblems(collections, principal.projectId, [skill])));
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  return insertOnce(collections.skills, skill);
}

async function connectorProblems(collections: Collections, { projectId }: Principal, id: string): Promise<string[]> {
  const connector = await findConnector(collections, id);
  return connector?.projectID === projectId
    ? []
    : [`skill.connector_id: the project has no connector ${JSON.stringify(id)}`];
}
