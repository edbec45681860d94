import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import type { Deps } from '../../deps.js';
import { AppError, notFound } from '../../errors.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import { listOf, listPage, ListQuery } from '../../http/lists.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/mongo.js';
import { actionProblems } from './agentflows/checks.js';
import { newAction } from './agentflows/compose.js';
import { exampleAction } from './agentflows/examples.js';
import { Action, actionCategories, NewStandaloneAction, type NewAction } from './agentflows/schemas.js';

const tag = 'actions';
const query = z.object({ projectID: z.string().optional() });

const StandaloneAction = Action.extend({ projectID: z.string(), user_id: z.string() }).meta({
  id: 'StandaloneAction',
  example: { ...exampleAction, projectID: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10', user_id: 'user_1' },
});
export type ActionDocument = z.infer<typeof StandaloneAction>;

/** Actions of a project's own, beside those embedded in skills (contract, actions). */
export function actionRoutes({ mongo: { collections } }: Pick<Deps, 'mongo'>): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/action',
      permission: 'svc:skill.write',
      tag,
      query,
      summary: 'Create an action',
      body: NewStandaloneAction,
      response: { status: 201, schema: StandaloneAction, description: 'The action as stored.' },
      errors: ['validation_failed'],
      idempotent: true,
      handler: ({ ctx, body: { projectID: _agrees, ...action } }) => saveAction(collections, ctx.principal, action, ctx.recordId),
    }),
    defineRoute({
      method: 'get',
      path: '/action',
      permission: 'svc:orchestrate.read',
      tag,
      query: ListQuery.extend({ ...query.shape, category: z.enum(actionCategories).optional() }),
      summary: 'List actions, newest first',
      response: { schema: listOf(StandaloneAction), description: 'One page of actions.' },
      handler: ({ ctx, query: { category, ...paging } }) =>
        listPage(collections.actions, { projectID: ctx.principal.projectId, ...(category && { category }) }, paging),
    }),
    defineRoute({
      method: 'get',
      path: '/action/{id}',
      permission: 'svc:orchestrate.read',
      tag,
      params: z.object({ id: z.string() }),
      query,
      summary: 'Read an action',
      response: { schema: StandaloneAction, description: 'The action.' },
      handler: ({ ctx, params: { id } }) => readAction(collections, ctx.principal, id),
    }),
  ];
}

/** @throws AppError `validation_failed` naming a pointer that leads to no action of the project, or a template that is none */
async function saveAction(collections: Collections, { projectId, userId }: Principal, request: NewAction, id: string): Promise<ActionDocument> {
  const action = newAction({ ...request, _id: id }, 0);
  const problems = actionProblems('action', action);
  for (const pointer of ['previous_action_id', 'next_action_id'] as const) {
    const other = action[pointer];
    if (other === null) continue;
    const found = await collections.actions.findOne({ _id: other });
    if (found?.projectID !== projectId) problems.push(`${pointer}: there is no action ${JSON.stringify(other)}`);
  }
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  return insertOnce(collections.actions, { ...action, projectID: projectId, user_id: userId });
}

async function readAction(collections: Collections, { projectId }: Principal, id: string): Promise<ActionDocument> {
  const action = await collections.actions.findOne({ _id: id });
  if (action?.projectID !== projectId) throw notFound('the action');
  return action;
}
