import type { AwaitedApproval, Refused } from '../../../workflows/agentflow-execution/act-messages.js';
import type { AskAnswer, AskPersonRequest } from '../../../workflows/agentflow-execution/steps/ask.js';
import { sha256Hex } from '../../base/hash.js';
import { epochSeconds } from '../../base/time.js';
import { renderText } from '../../prompts/template.js';
import { variablesOf } from '../../prompts/variables.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/insert-once.js';
import type { ExchangePart } from './exchanges.js';
import { keptMs, type QuestionDocument } from './record/questions.js';

type AskResult = { answer: AskAnswer } | { held: AwaitedApproval } | { refused: Refused };

/**
 * Puts the question of an `ask` step into the inbox, or takes the answer that its run has. Safe to repeat.
 * @throws AppError `validation_failed` if the question cannot be rendered
 */
export async function askPerson(
  { questions }: Pick<Collections, 'questions'>,
  request: AskPersonRequest,
  note: (part: ExchangePart) => void,
): Promise<AskResult> {
  const { idempotency_key, ask, until, is_late, answer } = request;
  const _id = sha256Hex(idempotency_key);
  const asked = await insertOnce(questions, newQuestion(request, _id));
  note({ input: { question: asked.message, form: ask.form, to: ask.to } });
  if (answer) {
    const { value, by, at } = answer;
    await questions.updateOne({ _id }, { $set: { status: 'answered', decided_by: by, decided_at: at } });
    note({ output: value });
    return { answer: { value } };
  }
  if (is_late) {
    await questions.updateOne({ _id }, { $set: { status: 'expired' } });
    if (ask.on_timeout !== 'fail') return { answer: null };
    return { refused: { code: 'timeout', message: `nobody answered "${asked.title}" in time` } };
  }
  if (asked.until !== until) await questions.updateOne({ _id }, { $set: { until, expires_at: endOfRecord(until) } });
  return { held: { approval_id: _id, expires_at: until, is_question: true } };
}

function newQuestion(request: AskPersonRequest, _id: string): QuestionDocument {
  const { execution_id, project_id, organization_id, agentflow_name, executed_by, ask, context, until } = request;
  const title = ask.title || ask._id;
  const text = renderText(`the question of the step "${title}"`, ask.question, variablesOf(context));
  return {
    _id,
    project_id,
    organization_id,
    execution_id,
    step_id: request.idempotency_key.slice(execution_id.length + 1),
    agentflow: agentflow_name,
    executed_by,
    title,
    message: text.trim() === '' ? title : text,
    form: ask.form,
    to: ask.to,
    status: 'waiting',
    asked_at: epochSeconds(),
    until,
    decided_by: null,
    decided_at: null,
    expires_at: endOfRecord(until),
  };
}

function endOfRecord(until: number): Date {
  return new Date(until * 1000 + keptMs);
}

/** Takes questions that nobody has answered out of the inbox, because their step or run has ended. */
export async function withdrawQuestions(
  { questions }: Pick<Collections, 'questions'>,
  which: { _id: string } | { execution_id: string },
): Promise<void> {
  await questions.updateMany({ ...which, status: 'waiting' }, { $set: { status: 'withdrawn' } });
}
