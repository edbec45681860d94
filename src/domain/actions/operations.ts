import { z } from 'zod';
import { AppError, notFound } from '../../base/errors.js';
import { listOf, listPage, ListQuery } from '../../stores/lists.js';
import { insertOnce } from '../../stores/insert-once.js';
import { actionProblems, newAction } from '../agentflows/rules.js';
import { NewStandaloneAction } from '../agentflows/record/skills.js';
import { ConnectorCategory } from '../connectors/record.js';
import { createActionRules } from '../caused-rules.js';
import { defineOperation, reads } from '../operation.js';
import { StandaloneAction } from './record.js';
import { Id } from '../../base/ids.js';
export { actionsCollection } from './record.js';
export { actAnswersCollection } from './act-answers.js';

export { testConnector } from './test-connector.js';
export { actHttp, actMail, actMcp, actMessage } from './act-operations.js';

export const listActions = defineOperation({
  name: 'action.list',
  ...reads,
  input: ListQuery.extend({ category: ConnectorCategory.optional() }),
  output: listOf(StandaloneAction),
  run: ({ deps, ctx, input: { category, ...paging } }) =>
    listPage(
      deps.mongo.collections.actions,
      { projectID: ctx.principal.projectId, ...(category && { category }) },
      paging,
    ),
});

export const readAction = defineOperation({
  name: 'action.read',
  ...reads,
  key: z.object({ id: Id }),
  output: StandaloneAction,
  async run({ deps, ctx, key: { id } }) {
    const action = await deps.mongo.collections.actions.findOne({ _id: id });
    if (action?.projectID !== ctx.principal.projectId) throw notFound('the action');
    return action;
  },
});

/** Throws `validation_failed` for a pointer to an action that the project does not have, and for an invalid template. */
export const createAction = defineOperation({
  ...createActionRules,
  input: NewStandaloneAction,
  output: StandaloneAction,
  errors: ['validation_failed'],
  async run({ deps, ctx: { principal, recordId }, input: { projectID: _checked, ...given } }) {
    const { actions } = deps.mongo.collections;
    const { projectId, userId } = principal;
    const action = newAction({ ...given, _id: recordId }, 0);
    const problems = actionProblems('action', action);
    for (const pointer of ['previous_action_id', 'next_action_id'] as const) {
      const other = action[pointer];
      if (other === null) continue;
      const found = await actions.findOne({ _id: other });
      if (found?.projectID !== projectId)
        problems.push(`${pointer}: the project has no action ${JSON.stringify(other)}`);
    }
    if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
    return insertOnce(actions, { ...action, projectID: projectId, user_id: userId });
  },
});
