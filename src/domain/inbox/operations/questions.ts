import { rolesOf } from '../../../auth/grants.js';
import { seesAllRuns, type Principal } from '../../../auth/principal.js';
import { AppError, notFound } from '../../../base/errors.js';
import { listPage, type Page } from '../../../stores/lists.js';
import type { Deps } from '../../deps.js';
import { answerQuestion, findQuestion } from '../../executions/operations/answer-question.js';
import { decidersOfQuestion, type QuestionDocument } from '../../executions/record/questions.js';
import type { Reply, UnreadItem } from '../record.js';
import { mayDecide } from './may-decide.js';

/** The questions of `ask` steps that wait, and that the caller sees. */
export async function waitingQuestions(
  { mongo }: Deps,
  principal: Principal,
  paging: { limit: number; cursor?: string | undefined },
): Promise<Page<QuestionDocument>> {
  const waiting = { project_id: principal.projectId, status: 'waiting' as const, ...visibleTo(principal) };
  return listPage(mongo.collections.questions, waiting, paging, 'asked_at');
}

/** Whoever sees only their own runs also sees the questions that are addressed to them. */
function visibleTo(principal: Principal) {
  if (seesAllRuns(principal)) return {};
  const { userId } = principal;
  return { $or: [{ executed_by: userId }, { 'to.people': userId }, { 'to.roles': { $in: [...rolesOf(principal)] } }] };
}

function sees(principal: Principal, { executed_by, to }: QuestionDocument): boolean {
  if (seesAllRuns(principal) || executed_by === principal.userId || to?.people.includes(principal.userId)) return true;
  return rolesOf(principal).some((role) => (to?.roles as readonly string[] | undefined)?.includes(role));
}

/** @throws AppError `not_found` for a question that the caller does not see */
export async function findQuestionItem(deps: Deps, principal: Principal, id: string): Promise<UnreadItem> {
  const question = await findQuestion(deps.mongo.collections, principal, id);
  if (!sees(principal, question)) throw notFound('the item');
  const items = await toQuestionItems(deps, principal, [question]);
  return items.get(id) as UnreadItem;
}

const statusOfQuestion = {
  waiting: 'waiting',
  answered: 'approved',
  expired: 'expired',
  withdrawn: 'cancelled',
} as const;

/** Items by the id of their question. A question does not expire while its run is paused. */
export async function toQuestionItems(
  { mongo }: Deps,
  principal: Principal,
  questions: readonly QuestionDocument[],
): Promise<Map<string, UnreadItem>> {
  const ids = [...new Set(questions.map(({ execution_id }) => execution_id))];
  const runs =
    ids.length === 0
      ? []
      : await mongo.collections.executions.find({ _id: { $in: ids } }, { projection: { status: 1 } }).toArray();
  const paused = new Set(runs.filter(({ status }) => status === 'paused').map(({ _id }) => _id));
  const itemOf = (question: QuestionDocument): UnreadItem => {
    const { _id, agentflow, title, message, form, to, step_id, execution_id, asked_at, until } = question;
    const status = statusOfQuestion[question.status];
    return {
      _id: `question:${_id}`,
      kind: 'question',
      title: `${agentflow}: ${title}`,
      body: { step_id, message, schema: form, to },
      execution_id,
      approval_id: null,
      created_at: asked_at,
      expires_at: paused.has(execution_id) ? null : until,
      status,
      ...mayDecide(principal, 'question', decidersOfQuestion(question), status),
    };
  };
  return new Map(questions.map((question) => [question._id, itemOf(question)]));
}

export async function subjectOfQuestion({ mongo }: Deps, principal: Principal, id: string) {
  const { execution_id, step_id } = await findQuestion(mongo.collections, principal, id);
  return { resource: { type: 'question', id }, facts: { execution_id, agent_id: step_id } };
}

/** @throws AppError `validation_failed`, `conflict`, `scope_denied` */
export async function replyToQuestion(
  deps: Deps,
  principal: Principal,
  item: UnreadItem,
  { decision, values, edits }: Reply,
  answerId: string,
): Promise<UnreadItem> {
  if (decision !== 'accept' || (edits !== undefined && edits !== null))
    throw new AppError('validation_failed', 'decision: must be accept with values for a question');
  const question = await findQuestion(deps.mongo.collections, principal, item._id.slice('question:'.length));
  await answerQuestion(deps, principal, question, values ?? {}, answerId);
  return { ...item, status: 'approved', may_decide: false, may_not_decide_reason: 'the question is approved' };
}
