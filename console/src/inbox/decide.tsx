import type { ReactNode } from 'react';
import { revealInvisible } from '@service/base/text.js';
import { call, validationError } from '../api.js';
import { Confirm } from '../confirm.js';
import { Facts } from '../facts.js';
import { fieldsOf, isObject } from '../fields-of.js';
import { ForeignText } from '../foreign-text.js';
import { Reason } from '../field.js';
import { useDraft } from '../use-draft.js';
import { AnswerFields, formOf } from './answer.js';
import { answersOf } from './answer-values.js';
import { ViewNote } from './call-view.js';
import { decidedOf, decisionsOf, decisionText, type Decided, type Decision } from './decision.js';
import { EditFields, editableOf, useEdits, valuesOf } from './edits.js';
import { callOf, digestOf, previewOf, type Subject } from './subject.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import messageStyles from '../styles/message.module.css';
import controlStyles from '../styles/controls.module.css';

/** Renders a button for each possible decision; the first one is emphasized. */
export function DecisionButtons({ subject, onChoose }: { subject: Subject; onChoose: (decision: Decision) => void }) {
  return (
    <p className={controlStyles.actions}>
      {decisionsOf(subject).map((decision, at) => (
        <button
          key={decision}
          type="button"
          className={at === 0 ? buttonStyles.primary : undefined}
          onClick={() => onChoose(decision)}
        >
          {decisionText(subject.item, decision)}…
        </button>
      ))}
    </p>
  );
}

interface DecideOptions {
  /** What the person has read. */
  subject: Subject;
  /** Whether it has changed since. */
  isChanged: boolean;
  decision: Decision;
  onDone: (decided: Decided) => Promise<unknown>;
  onClose: () => void;
}

const changedText = 'What you decide changed after you opened it. Close this dialog, and read it again';

/** Asks the person to confirm a decision, with a reason, and with changes if the item is editable. */
export function Decide({ subject, isChanged, decision, onDone, onClose }: DecideOptions) {
  const { item, approval, review } = subject;
  const [reason, setReason] = useDraft(`${decision}.${item._id}`);
  const edits = useEdits(item._id);
  const editable = decision === 'approve' ? editableOf(subject) : undefined;
  const form = decision === 'accept' ? formOf(item) : undefined;
  const name = decisionText(item, decision);
  const act = async (options: { idempotencyKey: string }) => {
    if (isChanged) throw validationError('payload_digest', changedText);
    const changes = valuesOf(editable, edits.drafts);
    const seenDigest = digestOf(subject);
    const body = {
      decision,
      ...(reason.trim() !== '' && { reason: reason.trim() }),
      ...(changes !== undefined && { edits: changes }),
      ...(form && { values: answersOf(form, edits.drafts) }),
      ...(seenDigest !== undefined && { payload_digest: seenDigest }),
    };
    const answer = await call('post', '/inbox/{id}/reply', { params: { id: item._id }, body }, options);
    setReason('');
    edits.clear();
    return decidedOf(answer, decision, seenDigest);
  };
  return (
    <Confirm
      title={`${name}: ${item.title}`}
      action={name}
      isFinal={decision === 'reject'}
      act={act}
      onDone={(decided) => void onDone(decided)}
      onClose={onClose}
    >
      {isChanged && (
        <p className={messageStyles.note} role="alert">
          {changedText}.
        </p>
      )}
      {approval && (
        <p className={textStyles.summary}>
          <strong>
            <bdi>{approval.summary}</bdi>
          </strong>
        </p>
      )}
      <ChangedFields subject={subject} />
      <ViewNote view={approval?.payload_view ?? review?.payload_view} />
      <p className={textStyles.soft}>{consequenceOf(subject, decision)}</p>
      {item.kind !== 'elicitation' && item.kind !== 'question' && <Reason text={reason} onChange={setReason} />}
      {editable && <EditFields editable={editable} edits={edits} />}
      {form && <AnswerFields form={form} edits={edits} />}
    </Confirm>
  );
}

/** What an approver has changed since the summary was written. */
function ChangedFields({ subject }: { subject: Subject }) {
  const { edits } = fieldsOf(callOf(subject));
  if (!isObject(edits)) return null;
  const values = Object.entries(edits).map(([name, value]): [string, ReactNode] => [
    revealInvisible(name),
    <ForeignText text={typeof value === 'string' ? value : JSON.stringify(value)} />,
  ]);
  return (
    <>
      <p className={messageStyles.note}>An approver changed this call:</p>
      <Facts of={Object.fromEntries(values)} />
    </>
  );
}

function consequenceOf(subject: Subject, decision: Decision): string {
  const { kind } = subject.item;
  if (kind === 'elicitation')
    return decision === 'accept'
      ? 'Your answer is sent to the server.'
      : `The server is informed that you ${decision === 'reject' ? 'declined' : 'cancelled'}.`;
  if (kind === 'question') return 'The run continues with your answer. The first answer counts.';
  if (kind === 'run')
    return decision === 'approve'
      ? 'The run continues with the step before which it was paused. This works only once the person has a role again that permits runs.'
      : 'The run ends as cancelled. What it has done stays done.';
  if (decision === 'accept') return 'The call is not repeated. The agent is informed that it took effect.';
  if (decision === 'approve') return 'The decision is final.';
  if (previewOf(subject)) return 'The run fails.';
  return kind === 'memory' ? 'Nothing is written to the context graph.' : 'The call is refused permanently.';
}
