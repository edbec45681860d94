import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { call, type InboxItem } from '../api.js';
import { Empty, Problem, Time, Page, Loading } from '../parts.js';
import { addHoldingRule } from '../curl.js';
import { InboxCard } from './card.js';
import { decisionsOf, type Decision } from './decide.js';
import { goalOf } from './edits.js';
import { quantity } from '../quantity.js';
import { readAll } from '../read-all.js';
import { useHoldsGrant, useMay } from '../session.js';
import { usePolled } from '../use-polled.js';

/** Returns all pending items, oldest first, although the API lists the newest first. */
export async function readInbox(): Promise<InboxItem[]> {
  return (await readAll((query) => call('get', '/inbox', { query }))).reverse();
}

export function Inbox() {
  return (
    <Page title="Inbox">
      <Items />
    </Page>
  );
}

const route = getRouteApi('/inbox');

function Items() {
  const { data: items, error, refetch } = usePolled(['inbox'], readInbox);
  // A link can name the item to show.
  const { item: linked = '' } = route.useSearch();
  const [choice, setChoice] = useState({ id: linked, at: 0 });
  const [asked, setAsked] = useState<{ id: string; decision: Decision }>();
  const [isOpened, setOpened] = useState(linked !== '');
  const list = useRef<HTMLUListElement>(null);
  const [focusRequests, setFocusRequests] = useState(0);
  const found = items?.findIndex(({ _id }) => _id === choice.id) ?? -1;
  // A decided item leaves the list, and the next item takes its position.
  const at = found < 0 ? Math.min(choice.at, Math.max(0, (items?.length ?? 0) - 1)) : found;
  const chosen = items?.[at];
  const ask = (decision: Decision | undefined) => setAsked(chosen && decision && { id: chosen._id, decision });
  const focusOn = (next: number) => {
    const item = items?.[next];
    if (!item) return;
    setChoice({ id: item._id, at: next });
    buttonsOf(list.current)[next]?.focus();
  };
  const open = (id: string, position: number) => {
    setChoice({ id, at: position });
    setOpened(true);
  };
  const onDone = async () => {
    setOpened(false);
    await refetch();
    setFocusRequests((count) => count + 1);
  };
  useShortcuts({
    ArrowDown: () => focusOn(at + 1),
    j: () => focusOn(at + 1),
    ArrowUp: () => focusOn(at - 1),
    k: () => focusOn(at - 1),
    a: () => ask(chosen && decisionsOf(chosen)[0]),
    r: () => ask('reject'),
  });
  useEffect(() => {
    if (focusRequests > 0 && !isDialogOpen()) buttonsOf(list.current)[at]?.focus();
    // Only after a decision, not when the items change for another reason.
  }, [focusRequests]);
  if (!items) return error ? <Problem error={error} /> : <Loading />;
  if (items.length === 0) return <NothingWaits error={error} />;
  return (
    <>
      <Problem error={error} />
      <p role="status">{quantity(items.length, 'item')}, oldest first</p>
      <p className="soft shortcuts">
        Keyboard shortcuts: <kbd>j</kbd> and <kbd>k</kbd> or the arrow keys to select, <kbd>a</kbd> to approve or
        answer, <kbd>r</kbd> to reject.
      </p>
      <div className={isOpened ? 'split inbox opened' : 'split inbox'}>
        <ul ref={list} className="choices" aria-label="Waiting for a decision">
          {items.map((item, position) => (
            <li key={item._id}>
              <button type="button" aria-current={item === chosen} onClick={() => open(item._id, position)}>
                <bdi>{item.title}</bdi> <bdi className="soft">{goalOf(item)}</bdi>{' '}
                <span className="soft">
                  {item.kind}, <Time at={item.created_at} />
                </span>
              </button>
            </li>
          ))}
        </ul>
        {chosen && (
          <div>
            <button type="button" className="back" onClick={() => setOpened(false)}>
              Back to the list
            </button>
            <InboxCard
              key={chosen._id}
              item={chosen}
              onDone={onDone}
              decision={asked?.id === chosen._id ? asked.decision : undefined}
              onDecision={ask}
            />
          </div>
        )}
      </div>
    </>
  );
}

/** Calls the action of a key that is pressed outside of fields and dialogs. */
function useShortcuts(actions: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isForAnother(event.target)) return;
      const act = Object.hasOwn(actions, event.key) && actions[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  });
}

function buttonsOf(list: HTMLUListElement | null): NodeListOf<HTMLElement> | never[] {
  return list?.querySelectorAll<HTMLElement>('button') ?? [];
}

const isDialogOpen = () => document.querySelector('[role="dialog"]') !== null;

/** Whether a key belongs to a field, to a dialog, or to a text that scrolls. */
function isForAnother(target: EventTarget | null): boolean {
  const isField =
    target instanceof Element && target.closest('input, textarea, select, pre, [contenteditable]') !== null;
  return isField || isDialogOpen();
}

/** For people without `svc:governance.read`. */
export const hiddenCalls =
  'You do not see the calls of other people that wait for approval: this requires the grant svc:governance.read.';

function NothingWaits({ error }: { error: unknown }) {
  const mayAddRule = useMay()('post /v1/policies/rules');
  const seesAll = useHoldsGrant('svc:governance.read');
  return (
    <>
      <Problem error={error} />
      <Empty {...(mayAddRule && { command: addHoldingRule })}>
        Nothing is waiting for a decision. Agents in preview mode and calls that require approval wait here.
        {!seesAll && ` ${hiddenCalls}`}
        {mayAddRule && ' This command adds a rule that requires approval for every HTTP call of an agent:'}
      </Empty>
    </>
  );
}
