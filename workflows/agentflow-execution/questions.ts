import { ApplicationFailure, CancellationScope, proxyActivities, setHandler } from '@temporalio/workflow';
import {
  answerQuestionUpdate,
  type ActAwaitingApproval,
  type QuestionAnswer,
  type QuestionReceipt,
} from './act-messages.js';
import type { AgentflowExecutionActivities } from './activities.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import { pathsOf } from './paths.js';
import type { Change } from './projection.js';
import { isOver } from './state.js';

const { withdrawQuestion } = proxyActivities<Pick<AgentflowExecutionActivities, 'withdrawQuestion'>>({
  startToCloseTimeout: '10s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts: 10 },
  summary: 'withdraw the question',
});

/** Takes answers to the questions of `ask` steps. The API has checked who answers, and the answer against the form. */
export function handleQuestions(
  { execution_id }: AgentflowExecutionInput,
  state: ExecutionState,
  changed: (change: Change) => void,
): void {
  const asked = ({ question_id }: QuestionAnswer): ActAwaitingApproval | undefined =>
    pathsOf(state)
      .flatMap(({ held }) => held ?? [])
      .find((held) => held.is_question && held.approval_id === question_id);
  const take = (answer: QuestionAnswer): QuestionReceipt => {
    const held = asked(answer);
    if (held) {
      held.answer = answer;
      state.settled_approvals = [...(state.settled_approvals ?? []), held.approval_id];
      changed('person');
    }
    return { execution_id, question_id: answer.question_id };
  };
  setHandler<QuestionReceipt, [QuestionAnswer], typeof answerQuestionUpdate>(answerQuestionUpdate, take, {
    description: 'Answer the question of a step',
    validator: (answer) => {
      const refuse = (message: string) =>
        ApplicationFailure.nonRetryable(message, 'conflict', { status: state.status });
      if (isOver(state)) throw refuse(`the execution is ${state.status}`);
      const held = asked(answer);
      if (!held || held.answer) throw refuse('the question was answered, or its time is over');
    },
  });
}

/** Takes the question out of the inbox of people, because its step no longer waits. */
export async function withdraw(questionId: string): Promise<void> {
  await CancellationScope.nonCancellable(() => withdrawQuestion(questionId).catch(() => undefined));
}
