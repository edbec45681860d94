import { useState } from 'react';
import type { InboxItem } from '../api.js';
import { digestOf } from './subject.js';

/**
 * Items that one decision fits: calls of the same operation, and held runs. Undefined for an item whose text must be
 * read, or that this person does not decide.
 */
export function groupOf(item: InboxItem): string | undefined {
  if (!item.may_decide) return undefined;
  if (item.kind === 'run') return 'run';
  if (item.kind !== 'approval' || item.body.outcome_unknown || item.body.tool === 'execution.preview') return undefined;
  return `approval ${item.body.tool}`;
}

/** Names the text too: a call that changes is no longer marked. */
const markOf = (item: InboxItem) => `${item._id} ${digestOf({ item }) ?? ''}`;

/** The items that a person marks to decide them together. */
export function useMarks(items: readonly InboxItem[]) {
  const [marks, setMarks] = useState<ReadonlySet<string>>(new Set());
  const isMarked = (item: InboxItem) => groupOf(item) !== undefined && marks.has(markOf(item));
  const marked = items.filter(isMarked);
  const group = marked[0] && groupOf(marked[0]);
  /** Items of another kind cannot be marked as well. */
  const canMark = (item: InboxItem) => groupOf(item) !== undefined && (group === undefined || groupOf(item) === group);
  const set = (next: readonly InboxItem[]) => setMarks(new Set(next.map(markOf)));
  return {
    marked,
    isMarked,
    canMark,
    /** Those of the kind that the person marks. */
    alike: group === undefined ? [] : items.filter((item) => groupOf(item) === group),
    set,
    toggle: (item: InboxItem) => {
      if (isMarked(item)) set(marked.filter((each) => each !== item));
      else if (canMark(item)) set([...marked, item]);
    },
  };
}
