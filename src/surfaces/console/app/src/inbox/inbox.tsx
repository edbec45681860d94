import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { call, type InboxItem } from '../api.js';
import { Empty, Problem, Time, Page, Loading } from '../parts.js';
import { holdCallsPolicy } from '../curl.js';
import { InboxCard } from './card.js';
import { decisionsOf, type Decision } from './decide.js';
import { goalOf } from './edits.js';
import { usePolled } from '../use-polled.js';

/** At most 2,000 items are loaded. People with more do not decide them one by one. */
const maxPages = 10;

/** Returns all pending items, oldest first, although the API lists the newest first. */
export async function readInbox(): Promise<InboxItem[]> {
  const items: InboxItem[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { data, next_cursor } = await call('get', '/inbox', {
      query: { limit: 200, ...(cursor !== undefined && { cursor }) },
    });
    items.push(...data);
    if (next_cursor === null) break;
    cursor = next_cursor;
  }
  return items.reverse();
}

export function Inbox() {
  return (
    <Page title="Inbox">
      <Items />
    </Page>
  );
}

function Items() {
  const { data: items, error, refetch } = usePolled(['inbox'], readInbox);
  const [chosenId, choose] = useState<string>();
  const [decision, setDecision] = useState<Decision>();
  const list = useRef<HTMLUListElement>(null);
  const at = Math.max(0, items?.findIndex(({ _id }) => _id === chosenId) ?? 0);
  const chosen = items?.[at];
  const focusOn = (next: number) => {
    const item = items?.[next];
    if (!item) return;
    choose(item._id);
    list.current?.querySelectorAll<HTMLElement>('button')[next]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      ArrowDown: () => focusOn(at + 1),
      j: () => focusOn(at + 1),
      ArrowUp: () => focusOn(at - 1),
      k: () => focusOn(at - 1),
      a: () => setDecision(chosen && decisionsOf(chosen)[0]),
      r: () => setDecision('reject'),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  // A decided item leaves the list, and the next item takes its position.
  useEffect(() => setDecision(undefined), [chosen?._id]);
  if (!items) return error ? <Problem error={error} /> : <Loading />;
  if (items.length === 0) return <NothingWaits error={error} />;
  return (
    <>
      <Problem error={error} />
      <p role="status">
        {items.length} {items.length === 1 ? 'item' : 'items'}, oldest first
      </p>
      <p className="soft">
        Keyboard shortcuts: <kbd>j</kbd> and <kbd>k</kbd> or the arrow keys to select, <kbd>a</kbd> to approve or
        answer, <kbd>r</kbd> to reject.
      </p>
      <div className="split">
        <ul ref={list} className="choices" aria-label="Waiting for a decision" onKeyDown={onKeyDown}>
          {items.map((item) => (
            <li key={item._id}>
              <button type="button" aria-current={item === chosen} onClick={() => choose(item._id)}>
                <bdi>{item.title}</bdi> <bdi className="soft">{goalOf(item)}</bdi>{' '}
                <span className="soft">
                  {item.kind}, <Time at={item.created_at} />
                </span>
              </button>
            </li>
          ))}
        </ul>
        {chosen && (
          <InboxCard key={chosen._id} item={chosen} onDone={refetch} decision={decision} onDecision={setDecision} />
        )}
      </div>
    </>
  );
}

function NothingWaits({ error }: { error: unknown }) {
  return (
    <>
      <Problem error={error} />
      <Empty command={holdCallsPolicy}>
        Nothing is waiting for a decision. Agents in preview mode and calls that require approval wait here. These
        policies require approval for every HTTP call of an agent:
      </Empty>
    </>
  );
}
