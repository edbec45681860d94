import { useState, type ReactNode } from 'react';
import { revealInvisible } from '../../../../../base/text.js';
import { call, validationError, type Approval, type InboxItem } from '../api.js';
import { Confirm } from '../confirm.js';
import { Facts } from '../facts.js';
import { ForeignText } from '../foreign-text.js';
import { Reason } from '../field.js';
import { useDraft } from '../use-draft.js';
import { AnswerFields, answersOf, formOf } from './answer.js';
import { ViewNote } from './call-view.js';
import { EditFields, editableOf, previewOf, useEdits, valuesOf } from './edits.js';

export type Decision = 'approve' | 'accept' | 'reject' | 'cancel';

const decisionTexts = { approve: 'Approve', accept: 'Accept as done', reject: 'Reject', cancel: 'Cancel' } as const;
const answerTexts = { ...decisionTexts, accept: 'Answer', reject: 'Decline' } as const;
const heldRunTexts = { ...decisionTexts, approve: 'Resume run', reject: 'End run' } as const;

function decisionText({ kind }: InboxItem, decision: Decision): string {
  const texts = { elicitation: answerTexts, run: heldRunTexts }[kind as string] ?? decisionTexts;
  return texts[decision];
}

/**
 * Returns the possible decisions. "Accept as done" applies only to a call that was sent and whose outcome is unknown. A
 * memory is approved only after its review was read.
 */
export function decisionsOf({ kind, body }: InboxItem): Decision[] {
  if (body.is_review_read === false) return ['reject'];
  if (kind === 'elicitation') return ['accept', 'reject', 'cancel'];
  return body.outcome_unknown === true ? ['approve', 'accept', 'reject'] : ['approve', 'reject'];
}

/** Renders a button for each possible decision; the first one is emphasized. */
export function DecisionButtons({ item, onChoose }: { item: InboxItem; onChoose: (decision: Decision) => void }) {
  return (
    <p className="actions">
      {decisionsOf(item).map((decision, at) => (
        <button
          key={decision}
          type="button"
          className={at === 0 ? 'primary' : undefined}
          onClick={() => onChoose(decision)}
        >
          {decisionText(item, decision)}…
        </button>
      ))}
    </p>
  );
}

interface DecisionBody {
  reason?: string;
  edits?: Record<string, unknown>;
  values?: Record<string, unknown>;
  payload_digest?: string;
}

interface DecideOptions {
  item: InboxItem;
  decision: Decision;
  /** Sends the decision; by default as a reply to the inbox item. */
  reply?: (body: DecisionBody, options: { idempotencyKey: string }) => Promise<unknown>;
  onDone: () => Promise<unknown>;
  onClose: () => void;
}

/** The digest of the call or review as the item shows it; undefined for an item without one. */
function digestOf({ kind, body }: InboxItem): string | undefined {
  const { payload_digest, edited_payload_digest } = body as Record<string, string | null | undefined>;
  const hasDigest = kind === 'approval' || kind === 'memory';
  return hasDigest ? (edited_payload_digest ?? payload_digest ?? undefined) : undefined;
}

const changedText = 'What you decide changed after you opened this dialog. Close it, and read it again';

/** Asks the person to confirm a decision, with a reason, and with changes if the item is editable. */
export function Decide({ item: current, decision, onDone, onClose, reply }: DecideOptions) {
  // The page may receive another call while the dialog is open. The person decides on the one that they saw.
  const [item] = useState(current);
  const isChanged = digestOf(current) !== digestOf(item);
  const send = reply ?? replyTo(item, decision);
  const [reason, setReason] = useDraft(`${decision}.${item._id}`);
  const edits = useEdits(item._id);
  const editable = decision === 'approve' ? editableOf(item) : undefined;
  const form = decision === 'accept' ? formOf(item) : undefined;
  const name = decisionText(item, decision);
  const act = async (options: { idempotencyKey: string }) => {
    if (isChanged) throw validationError('payload_digest', changedText);
    const changes = valuesOf(editable, edits.drafts);
    const seenDigest = digestOf(item);
    await send(
      {
        ...(reason.trim() !== '' && { reason: reason.trim() }),
        ...(changes !== undefined && { edits: changes }),
        ...(form && { values: answersOf(form, edits.drafts) }),
        ...(seenDigest !== undefined && { payload_digest: seenDigest }),
      },
      options,
    );
    setReason('');
    edits.clear();
  };
  return (
    <Confirm
      title={`${name}: ${item.title}`}
      action={name}
      isFinal={decision === 'reject'}
      act={act}
      onDone={() => void onDone()}
      onClose={onClose}
    >
      {isChanged && (
        <p className="note" role="alert">
          {changedText}.
        </p>
      )}
      {item.kind === 'approval' && (
        <p className="summary">
          <strong>
            <bdi>{(item.body as Partial<Approval>).summary}</bdi>
          </strong>
        </p>
      )}
      <ChangedFields item={item} />
      <ViewNote view={(item.body as Partial<Approval>).payload_view} />
      <p className="soft">{consequenceOf(item, decision)}</p>
      {item.kind !== 'elicitation' && <Reason text={reason} onChange={setReason} />}
      {editable && <EditFields editable={editable} edits={edits} />}
      {form && <AnswerFields form={form} edits={edits} />}
    </Confirm>
  );
}

/** What an approver has changed since the summary was written. */
function ChangedFields({ item: { body } }: { item: InboxItem }) {
  const { edits } = (body as { call?: { edits?: Record<string, unknown> } }).call ?? {};
  if (!edits) return null;
  const values = Object.entries(edits).map(([name, value]): [string, ReactNode] => [
    revealInvisible(name),
    <ForeignText text={typeof value === 'string' ? value : JSON.stringify(value)} />,
  ]);
  return (
    <>
      <p className="note">An approver changed this call:</p>
      <Facts of={Object.fromEntries(values)} />
    </>
  );
}

const replyTo =
  ({ _id: id }: InboxItem, decision: Decision): NonNullable<DecideOptions['reply']> =>
  (body, options) =>
    call('post', '/inbox/{id}/reply', { params: { id }, body: { decision, ...body } }, options);

function consequenceOf(item: InboxItem, decision: Decision): string {
  const { kind } = item;
  if (kind === 'elicitation')
    return decision === 'accept'
      ? 'Your answer is sent to the server.'
      : `The server is informed that you ${decision === 'reject' ? 'declined' : 'cancelled'}.`;
  if (kind === 'run')
    return decision === 'approve'
      ? 'The run continues with the step before which it was paused. This works only once the person has a role again that permits runs.'
      : 'The run ends as cancelled. What it has done stays done.';
  if (decision === 'accept') return 'The call is not repeated. The agent is informed that it took effect.';
  if (decision === 'approve') return 'The decision is final.';
  if (previewOf(item)) return 'The run fails.';
  return kind === 'memory' ? 'Nothing is written to the context graph.' : 'The call is refused permanently.';
}
