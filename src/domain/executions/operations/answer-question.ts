import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { answerQuestionUpdate } from '../../../../workflows/agentflow-execution/act-messages.js';
import { executionWorkflowId } from '../../../../workflows/agentflow-execution/messages.js';
import { requireDecider } from '../../../auth/decisions.js';
import type { Principal } from '../../../auth/principal.js';
import { AppError, notFound } from '../../../base/errors.js';
import { epochSeconds } from '../../../base/time.js';
import type { Collections } from '../../../stores/collections.js';
import { isWorkflowGone } from '../../../temporal/client.js';
import { updateOnce } from '../../../temporal/update-once.js';
import type { Deps } from '../../deps.js';
import { decidersOfQuestion, type QuestionDocument } from '../record/questions.js';
import { noteShaper } from './shaped-by.js';

const maxAnswerLength = 256 * 1024;

/** @throws AppError `not_found` for a question of another project */
export async function findQuestion(
  { questions }: Pick<Collections, 'questions'>,
  { projectId }: Pick<Principal, 'projectId'>,
  id: string,
): Promise<QuestionDocument> {
  const found = await questions.findOne({ _id: id });
  if (found?.project_id !== projectId) throw notFound('the item');
  return found;
}

/**
 * Gives an answer to the run that waits for it. Idempotent by `answerId`; a second answer is refused.
 * @throws AppError `scope_denied` by `whyNotDecide`, `validation_failed` for values that do not match the form, `conflict`
 *   if the run no longer waits for this question
 */
export async function answerQuestion(
  deps: Deps,
  principal: Principal,
  question: QuestionDocument,
  value: Record<string, unknown>,
  answerId: string,
): Promise<void> {
  const { _id, execution_id, form, organization_id: owner } = question;
  requireDecider(principal, 'question', decidersOfQuestion(question));
  if (JSON.stringify(value).length > maxAnswerLength)
    throw new AppError('validation_failed', `values: must not exceed ${maxAnswerLength} characters`);
  await deps.schemas.requireMatch(form, value, { name: 'values', owner });
  await noteShaper(deps.mongo.collections, principal, execution_id);
  const answer = { question_id: _id, value, by: principal.userId, at: epochSeconds() };
  try {
    await updateOnce(deps.temporal, executionWorkflowId(execution_id), answerQuestionUpdate, {
      args: [answer],
      updateId: answerId,
    });
  } catch (error) {
    const refusal = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
    if (refusal instanceof ApplicationFailure && refusal.type === 'conflict')
      throw new AppError('conflict', refusal.message);
    if (isWorkflowGone(error)) throw new AppError('conflict', 'the run of the question has ended');
    throw error;
  }
}
