import { defineSignal, defineUpdate } from '@temporalio/workflow';

/** Sent by the workflow of an approval when it is settled. */
export const approvalSettledSignal = defineSignal<[string]>('approvalSettled');

/** The person on whose behalf an act is performed, and the facts of its run that rules can use. */
export interface ActRun {
  execution_id: string;
  /** For a run that works on a slice of the items of another run: that run, which is charged. */
  part_of?: string;
  organization_id: string;
  agentflow_id: string;
  agentflow_name: string;
  /** 0 for an agentflow that was run without being promoted. */
  agentflow_version: number;
  agent_id: string;
  agent_title: string;
  /** Where in the flow; absent for the main part. */
  path?: string;
  /** The person on whose behalf the run acts. */
  executed_by: string;
  started_by: 'person' | 'schedule' | 'trigger';
  /** The agentflows of the runs that started each other before this one. */
  parents?: string[];
  /** The tokens of all model turns so far, with those of the runs that it has waited for. */
  tokens_spent: number;
}

/** The approval that an act waits for. `expires_at` is in epoch seconds. */
export interface AwaitedApproval {
  approval_id: string;
  expires_at: number;
  /** The call was approved and sent before, but its answer was lost. An approval repeats it. */
  after_unknown?: boolean;
  /** An approver had edited the call before this approval was requested. */
  is_edited?: boolean;
  /** It is the question of an `ask` step, and no approval: `approval_id` is the id of the question. */
  is_question?: true;
}

/** What a person answered to the question of an `ask` step. */
export interface QuestionAnswer {
  question_id: string;
  /** It matches the form of the question. */
  value: Record<string, unknown>;
  by: string;
  /** Epoch seconds. */
  at: number;
}

export interface QuestionReceipt {
  execution_id: string;
  question_id: string;
}

/** Refused with type `conflict` unless the run waits for an answer to this question. */
export const answerQuestionUpdate = defineUpdate<QuestionReceipt, [QuestionAnswer]>('answerQuestion');

/** Why an act was not performed. The agent receives it. */
export interface Refused {
  code: string;
  message: string;
}

/** An act that waits for an approval. Its step is called again once the approval is settled. */
export interface ActAwaitingApproval extends AwaitedApproval {
  step_id: string;
  agent_id: string;
  requested_at: number;
  /** The approval was notified that the run is paused. */
  is_clock_stopped?: boolean;
  /** The answer to a question, which the step has not taken yet. */
  answer?: QuestionAnswer;
}

export interface Anomaly {
  agent_id: string;
  finding: string;
  at: number;
}

/** A finding of the anomaly check. The rules have not yet permitted the run to continue. */
export interface UnsettledAnomaly {
  agent_id: string;
  finding: string;
  /** The position of the output in the execution, from 1. */
  number: number;
  /** Rules or an approver refused: the run ends. */
  refused?: Refused;
}

/** What an MCP server asks a person while a step calls one of its tools. Times are epoch seconds. */
export interface Elicitation {
  elicitation_id: string;
  step_id: string;
  agent_id: string;
  requested_at: number;
  expires_at: number;
}
