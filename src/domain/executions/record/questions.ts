import type { AskStep } from '../../../../workflows/agentflow-execution/flow/flow-steps.js';
import type { Deciders } from '../../../auth/decisions.js';
import type { JsonObject } from '../../../base/json.js';
import { defineCollection, expiring } from '../../../stores/collections.js';

/**
 * The question of an `ask` step, as the inbox shows it. Its run decides whether it still waits for an answer. The same
 * step has the same `_id`, even if a worker was killed. Times are epoch seconds.
 */
export interface QuestionDocument {
  _id: string;
  project_id: string;
  organization_id: string;
  execution_id: string;
  step_id: string;
  agentflow: string;
  /** The person for whom the run acts. */
  executed_by: string;
  title: string;
  message: string;
  /** The JSON Schema of the answer. */
  form: JsonObject;
  to: AskStep['to'];
  status: 'waiting' | 'answered' | 'expired' | 'withdrawn';
  asked_at: number;
  /** After a pause of the run, it moves by the length of the pause. */
  until: number;
  decided_by: string | null;
  decided_at: number | null;
  expires_at: Date;
}

/** Who may answer. Nobody has asked as a client of this service, so nobody is barred. */
export function decidersOfQuestion({ to }: Pick<QuestionDocument, 'to'>): Deciders {
  return { askers: [], ...(to && { named: to }) };
}

/** Questions are deleted this long after they expire. A run can be paused before that for any time. */
export const keptMs = 366 * 24 * 3600 * 1000;

export const questionsCollection = defineCollection('questions', {
  indexes: [
    { keys: { project_id: 1, status: 1, asked_at: -1, _id: -1 } },
    { keys: { execution_id: 1, status: 1 } },
    expiring,
  ],
  majorityRead: true,
});

declare module '../../../stores/collections.js' {
  interface Documents {
    questions: QuestionDocument;
  }
}
