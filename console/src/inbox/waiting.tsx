import { useEffect, useRef, useState, type Ref } from 'react';
import type { InboxItem } from '../api.js';
import { ActionButton, Loading, Problem } from '../parts.js';
import { Time } from '../time.js';
import { quantity } from '../quantity.js';
import { useMay } from '../session.js';
import buttonStyles from '../styles/button.module.css';
import textStyles from '../styles/text.module.css';
import { usePolled } from '../use-polled.js';
import { kindText } from '../words/words.js';
import { InboxCard } from './card.js';
import { DecideMarked, type Marked } from './decide-marked.js';
import { DecidedList } from './decided-list.js';
import { decisionsOf, decisionText, type Decided, type Decision } from './decision.js';
import { groupOf, useMarks } from './marks.js';
import { NothingWaits } from './nothing-waits.js';
import { readInbox } from './read-inbox.js';
import { goalOf } from './subject.js';
import { isDialogOpen, useShortcuts } from './use-shortcuts.js';
import styles from './inbox.module.css';

const keptDecisions = 20;

/**
 * What waits for this person, as a list and the item that they read. A phone shows one of both.
 * @param props.linked the item that the address names
 */
export function Waiting({ linked }: { linked: string }) {
  const { data: items, error, refetch } = usePolled(['inbox'], readInbox);
  const [decided, setDecided] = useState<readonly Decided[]>([]);
  const [news, setNews] = useState('');
  // The items stay in their dialog, which shows the results, after they have left the list.
  const [asked, setAsked] = useState<{ items: Marked; decision: Decision }>();
  const page = useRef<HTMLDivElement>(null);
  const focusChosen = useFocusRequest(() => page.current?.querySelector('[aria-current="true"]') ?? page.current);
  const add = (next: Decided) => setDecided((known) => [next, ...known].slice(0, keptDecisions));
  const finish = async (text: string) => {
    const { data: left } = await refetch();
    setNews(left?.length === 0 ? `${text} Nothing else waits.` : text);
    focusChosen();
  };
  return (
    <div ref={page} tabIndex={-1} className={styles.waiting}>
      <Problem error={error} />
      <p role="status" className={textStyles.hidden}>
        {news}
      </p>
      {!items && !error && <Loading />}
      {items?.length === 0 && <NothingWaits />}
      {items && items.length > 0 && (
        <Items
          items={items}
          linked={linked}
          onDone={(next) => {
            add(next);
            return finish(`${next.done}: ${next.text}.`);
          }}
          onBack={focusChosen}
          onAskMarked={(marked, decision) => setAsked({ items: marked, decision })}
        />
      )}
      <DecidedList decided={decided} />
      {asked && (
        <DecideMarked
          {...asked}
          onDecided={add}
          onEnd={(text) => void finish(text)}
          onClose={() => {
            setAsked(undefined);
            focusChosen();
          }}
        />
      )}
    </div>
  );
}

/** Returns a function that moves the focus after the next render, unless a dialog has it. */
function useFocusRequest(target: () => HTMLElement | null): () => void {
  const [requests, setRequests] = useState(0);
  useEffect(() => {
    if (requests > 0 && !isDialogOpen()) target()?.focus();
    // Only on request, not when the target changes for another reason.
  }, [requests]);
  return () => setRequests((count) => count + 1);
}

interface ItemsOptions {
  /** At least one. */
  items: readonly InboxItem[];
  linked: string;
  onDone: (decided: Decided) => Promise<unknown>;
  /** The person leaves the item for the list. */
  onBack: () => void;
  onAskMarked: (marked: Marked, decision: Decision) => void;
}

function Items({ items, linked, onDone, onBack, onAskMarked }: ItemsOptions) {
  const [choice, setChoice] = useState({ id: linked, at: 0 });
  const [asked, setAsked] = useState<{ id: string; decision: Decision }>();
  const [isOpened, setOpened] = useState(linked !== '');
  const mayReply = useMay()('post /inbox/{id}/reply');
  const marks = useMarks(items);
  const list = useRef<HTMLUListElement>(null);
  const card = useRef<HTMLDivElement>(null);
  const focusCard = useFocusRequest(() => card.current);
  const found = items.findIndex(({ _id }) => _id === choice.id);
  // A decided item leaves the list, and the next item takes its position.
  const at = found < 0 ? Math.min(choice.at, items.length - 1) : found;
  const chosen = items[at] as InboxItem;
  const ask = (decision: Decision | undefined) => setAsked(decision && { id: chosen._id, decision });
  const askByKey = (decision: Decision) => {
    if (!mayReply) return;
    if (isSome(marks.marked)) onAskMarked(marks.marked, decision === 'accept' ? 'approve' : decision);
    else if (chosen.may_decide) ask(decision);
  };
  const select = (next: number) => {
    const item = items[next];
    if (!item) return;
    setChoice({ id: item._id, at: next });
    list.current?.querySelectorAll('button')[next]?.focus();
  };
  const open = (id: string, position: number) => {
    setChoice({ id, at: position });
    setOpened(true);
    focusCard();
  };
  const back = () => {
    setOpened(false);
    onBack();
  };
  useShortcuts({
    ArrowDown: () => select(at + 1),
    j: () => select(at + 1),
    ArrowUp: () => select(at - 1),
    k: () => select(at - 1),
    Escape: back,
    x: () => mayReply && marks.toggle(chosen),
    a: () => askByKey(/^(elicitation|question)$/.test(chosen.kind) ? 'accept' : 'approve'),
    r: () => askByKey('reject'),
  });
  return (
    <>
      <p role="status">{quantity(items.length, 'item')}, oldest first</p>
      <Shortcuts />
      <div className={isOpened ? `${styles.inbox} ${styles.opened}` : styles.inbox}>
        <div className={styles.list}>
          <MarkedBar marks={marks} onChoose={onAskMarked} />
          <ItemList ref={list} items={items} chosen={chosen} marks={mayReply ? marks : undefined} onOpen={open} />
        </div>
        <div ref={card} tabIndex={-1} className={styles.chosen}>
          <button type="button" className={styles.back} onClick={back}>
            Back to the list
          </button>
          <InboxCard
            key={chosen._id}
            item={chosen}
            onDone={(next) => {
              setOpened(false);
              return onDone(next);
            }}
            decision={asked?.id === chosen._id ? asked.decision : undefined}
            onDecision={ask}
          />
        </div>
      </div>
    </>
  );
}

interface ItemListOptions {
  ref: Ref<HTMLUListElement>;
  items: readonly InboxItem[];
  chosen: InboxItem;
  /** Undefined for a person who may not decide. */
  marks: ReturnType<typeof useMarks> | undefined;
  onOpen: (id: string, position: number) => void;
}

function ItemList({ ref, items, chosen, marks, onOpen }: ItemListOptions) {
  return (
    <ul ref={ref} className={styles.items} aria-label="Waiting for a decision">
      {items.map((item, position) => (
        <li key={item._id}>
          {marks && groupOf(item) !== undefined && (
            <label className={styles.mark}>
              <input
                type="checkbox"
                aria-label={`Mark ${item.title}`}
                disabled={!marks.canMark(item)}
                checked={marks.isMarked(item)}
                onChange={() => marks.toggle(item)}
              />
            </label>
          )}
          <button type="button" aria-current={item === chosen} onClick={() => onOpen(item._id, position)}>
            <bdi>{item.title}</bdi> <bdi className={styles.detail}>{goalOf(item)}</bdi>{' '}
            <span className={styles.detail}>
              {kindText(item)}, <Time at={item.created_at} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

interface MarkedBarOptions {
  marks: ReturnType<typeof useMarks>;
  onChoose: (marked: Marked, decision: Decision) => void;
}

/** The decisions on the marked items. */
function MarkedBar({ marks: { marked, alike, set }, onChoose }: MarkedBarOptions) {
  if (!isSome(marked)) return null;
  const [first] = marked;
  return (
    <div className={styles.marked} role="group" aria-label="Marked items">
      <span role="status">{marked.length} marked</span>
      {decisionsOf({ item: first }).map((decision, position) => (
        <button
          key={decision}
          type="button"
          className={position === 0 ? buttonStyles.primary : undefined}
          onClick={() => onChoose(marked, decision)}
        >
          {decisionText(first, decision)} {marked.length}…
        </button>
      ))}
      {marked.length < alike.length && (
        <ActionButton name={`Mark all ${alike.length} alike`} onClick={() => set(alike)} />
      )}
      <ActionButton name="Clear marks" onClick={() => set([])} />
    </div>
  );
}

function Shortcuts() {
  return (
    <p className={`${textStyles.soft} ${styles.shortcuts}`}>
      Keyboard shortcuts: <kbd>j</kbd> and <kbd>k</kbd> or the arrow keys to select, <kbd>Enter</kbd> to read,{' '}
      <kbd>Escape</kbd> to go back, <kbd>x</kbd> to mark, <kbd>a</kbd> to approve or answer, <kbd>r</kbd> to reject.
    </p>
  );
}

const isSome = (items: readonly InboxItem[]): items is Marked => items.length > 0;
