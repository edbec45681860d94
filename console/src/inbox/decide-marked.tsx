import { call, type InboxItem } from '../api.js';
import { Each } from '../each.js';
import { Reason } from '../field.js';
import { quantity } from '../quantity.js';
import textStyles from '../styles/text.module.css';
import { useDraft } from '../use-draft.js';
import { decidedOf, decisionText, type Decided, type Decision } from './decision.js';
import { digestOf } from './subject.js';

/** At least one item, all of the same kind. */
export type Marked = readonly [InboxItem, ...InboxItem[]];

interface DecideMarkedOptions {
  items: Marked;
  decision: Decision;
  onDecided: (decided: Decided) => void;
  /** Receives what was done. */
  onEnd: (news: string) => void;
  onClose: () => void;
}

/** Asks the person to confirm one decision on several items, and shows the result of each. */
export function DecideMarked({ items, decision, onDecided, onEnd, onClose }: DecideMarkedOptions) {
  const [reason, setReason] = useDraft(`${decision}.marked`);
  const act = async (item: InboxItem) => {
    const digest = digestOf({ item });
    const body = {
      decision,
      ...(reason.trim() !== '' && { reason: reason.trim() }),
      ...(digest !== undefined && { payload_digest: digest }),
    };
    const answer = await call('post', '/inbox/{id}/reply', { params: { id: item._id }, body });
    const decided = decidedOf(answer, decision, digest);
    onDecided(decided);
    return decided.done;
  };
  return (
    <Each
      action={decisionText(items[0], decision)}
      isFinal={decision === 'reject'}
      noun="item"
      records={items}
      keyOf={({ _id }) => _id}
      nameOf={({ title }) => title}
      act={act}
      onEnd={(failures) => {
        if (failures === 0) setReason('');
        onEnd(`${items.length - failures} of ${quantity(items.length, 'item')} decided.`);
      }}
      onClose={onClose}
    >
      <p className={textStyles.soft}>
        Your decision is final. Each line below is a whole call; open those that say that they are shortened before you
        decide. A call that changes in the meantime is not decided.
      </p>
      <Reason text={reason} onChange={setReason} />
    </Each>
  );
}
