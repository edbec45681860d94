import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import { findConnector } from '../../connectors/store.js';
import type { Deps } from '../../deps.js';
import { AppError, notFound } from '../../errors.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import { listOf, listPage, ListQuery } from '../../http/lists.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/mongo.js';
import { skillProblems } from './agentflows/checks.js';
import { newSkill } from './agentflows/compose.js';
import { NewSkill, Skill } from './agentflows/schemas.js';

export type SkillDocument = Skill;

const tag = 'skills';
const query = z.object({ projectID: z.string().optional() });
const params = z.object({ id: z.string() });
const SkillRequest = NewSkill.omit({ _id: true }).extend({ projectID: z.string().optional() });

/** Skills of a project's own, beside those embedded in agents (contract, skills). */
export function skillRoutes({ mongo: { collections } }: Deps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/skill',
      permission: 'svc:skill.write',
      tag,
      query,
      summary: 'Create a skill',
      body: SkillRequest,
      response: { status: 201, schema: Skill, description: 'The skill as stored.' },
      errors: ['validation_failed'],
      idempotent: true,
      handler: ({ ctx, body: { projectID: _agrees, ...skill } }) => saveSkill(collections, ctx.principal, skill, ctx.recordId),
    }),
    defineRoute({
      method: 'get',
      path: '/skill',
      permission: 'svc:orchestrate.read',
      tag,
      query: ListQuery.extend(query.shape),
      summary: 'List skills, newest first',
      response: { schema: listOf(Skill), description: 'One page of skills.' },
      handler: ({ ctx, query }) => listPage(collections.skills, { projectID: ctx.principal.projectId, is_deleted: false }, query),
    }),
    defineRoute({
      method: 'get',
      path: '/skill/{id}',
      permission: 'svc:orchestrate.read',
      tag,
      params,
      query,
      summary: 'Read a skill',
      response: { schema: Skill, description: 'The skill.' },
      handler: ({ ctx, params: { id } }) => readSkill(collections, ctx.principal, id),
    }),
    defineRoute({
      method: 'delete',
      path: '/skill/{id}',
      permission: 'svc:skill.write',
      tag,
      params,
      query,
      summary: 'Delete a skill',
      response: { schema: Skill, description: 'The last record. Agents keep their embedded copies.' },
      handler: async ({ ctx, params: { id } }) => {
        const skill = await readSkill(collections, ctx.principal, id);
        await collections.skills.updateOne({ _id: id }, { $set: { is_deleted: true } });
        return { ...skill, is_deleted: true };
      },
    }),
  ];
}

/** @throws AppError `validation_failed` naming every pointer that leads nowhere or in a circle, the connector's among them */
export async function saveSkill(collections: Collections, principal: Principal, request: NewSkill, id: string): Promise<Skill> {
  const skill = newSkill({ ...request, _id: id }, principal);
  const problems = skillProblems('skill', skill);
  if (skill.connector_id !== null) problems.push(...(await connectorProblems(collections, principal, skill.connector_id)));
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  return insertOnce(collections.skills, skill);
}

async function connectorProblems(collections: Collections, { projectId }: Principal, id: string): Promise<string[]> {
  const connector = await findConnector(collections, id);
  return connector?.projectID === projectId ? [] : [`skill.connector_id: there is no connector ${JSON.stringify(id)}`];
}

export async function readSkill(collections: Collections, principal: Principal, id: string): Promise<Skill> {
  const skill = await collections.skills.findOne({ _id: id });
  if (!skill || skill.is_deleted || skill.projectID !== principal.projectId) throw notFound('the skill');
  return skill;
}
