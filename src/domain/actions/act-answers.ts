import type { SecretBox } from '../../auth/secret-box.js';
import { defineCollection, expiring, type Collections } from '../../stores/collections.js';
import type { JsonObject } from '../../base/json.js';
import { insertOnce } from '../../stores/insert-once.js';

/** `_id` is the approval id. A step whose worker was lost after the call uses this answer instead of calling again. */
interface ActAnswerDocument {
  _id: string;
  sealed: string;
  expires_at: Date;
}

/** The answer to an act, and what an approver had changed in the act. */
export interface ActAnswer {
  output: unknown;
  edits?: JsonObject;
}

interface ActAnswerDeps {
  collections: Pick<Collections, 'act_answers'>;
  secrets: Pick<SecretBox, 'seal' | 'open'>;
}

const keptForMs = 7 * 24 * 3600 * 1000;

function sealedFor(approvalId: string): string {
  return `act-answer:${approvalId}`;
}

export async function keepAnswer(
  { collections, secrets }: ActAnswerDeps,
  _id: string,
  answer: ActAnswer,
): Promise<void> {
  const sealed = secrets.seal(JSON.stringify(answer), sealedFor(_id));
  await insertOnce(collections.act_answers, { _id, sealed, expires_at: new Date(Date.now() + keptForMs) });
}

/** The answer to the call that was made under this approval; undefined if none is known. */
export async function keptAnswer(
  { collections, secrets }: ActAnswerDeps,
  approvalId: string,
): Promise<ActAnswer | undefined> {
  const kept = await collections.act_answers.findOne({ _id: approvalId });
  return kept ? (JSON.parse(secrets.open(kept.sealed, sealedFor(approvalId))) as ActAnswer) : undefined;
}

export const actAnswersCollection = defineCollection('act_answers', { indexes: [expiring], majorityRead: true });

declare module '../../stores/collections.js' {
  interface Documents {
    act_answers: ActAnswerDocument;
  }
}
