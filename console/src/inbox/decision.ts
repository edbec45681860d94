import type { InboxItem } from '../api.js';
import { digestOf, type Subject } from './subject.js';

export type Decision = 'approve' | 'accept' | 'reject' | 'cancel';

/** What a button says, and what was done afterwards. */
type Words = readonly [button: string, done: string];

const words = {
  approve: ['Approve', 'Approved'],
  accept: ['Accept as done', 'Accepted as done'],
  reject: ['Reject', 'Rejected'],
  cancel: ['Cancel', 'Cancelled'],
} as const satisfies Record<Decision, Words>;
const answerWords = { ...words, accept: ['Answer', 'Answered'], reject: ['Decline', 'Declined'] } as const;
const heldRunWords = { ...words, approve: ['Resume run', 'Resumed'], reject: ['End run', 'Ended'] } as const;

function wordsOf({ kind }: InboxItem, decision: Decision): Words {
  if (kind === 'elicitation' || kind === 'question') return answerWords[decision];
  return (kind === 'run' ? heldRunWords : words)[decision];
}

export const decisionText = (item: InboxItem, decision: Decision): string => wordsOf(item, decision)[0];

/**
 * Returns the possible decisions. "Accept as done" applies only to a call that was sent and whose outcome is unknown. A
 * memory is approved only after its review was read.
 */
export function decisionsOf({ item, review }: Subject): Decision[] {
  if (item.kind === 'memory' && review === undefined) return ['reject'];
  if (item.kind === 'elicitation') return ['accept', 'reject', 'cancel'];
  if (item.kind === 'question') return ['accept'];
  const isUnknown = item.kind === 'approval' && item.body.outcome_unknown;
  return isUnknown ? ['approve', 'accept', 'reject'] : ['approve', 'reject'];
}

/** A decision that this person has just made. */
export interface Decided {
  id: string;
  approvalId: string | null;
  /** Such as "Approved". A call that needs further approvers says so. */
  done: string;
  /** What was decided, in one line. An edited call has the text of its edit. */
  text: string;
  /** The digest of the decided text; undefined for an item without one. */
  digest: string | undefined;
  /** Epoch seconds. */
  at: number;
}

/** @param answer the item after the decision */
export function decidedOf(answer: InboxItem, decision: Decision, seenDigest: string | undefined): Decided {
  const isHeld = answer.kind === 'approval' && answer.status === 'waiting';
  const done = wordsOf(answer, decision)[1];
  return {
    id: answer._id,
    approvalId: answer.approval_id,
    done: isHeld ? `${done}, and waits for another person` : done,
    text: answer.kind === 'approval' ? answer.body.summary : answer.title,
    digest: digestOf({ item: answer }) ?? seenDigest,
    at: Date.now() / 1000,
  };
}
