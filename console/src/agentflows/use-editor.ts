import { useMemo, useState } from 'react';
import {
  changesOf,
  documentIn,
  documentOf,
  newDocument,
  nodesOf,
  textOf,
  type Edited,
  type Fields,
  type FlowDocument,
} from './document.js';
import { useKeptDraft } from './kept-draft.js';
import { changedPlace, useHistory, type History } from './use-history.js';

export interface Editor extends Pick<History, 'canUndo' | 'canRedo' | 'settle'> {
  /** The JSON that the person typed. */
  text: string;
  /** Undefined if the text is not a valid document. */
  document: FlowDocument | undefined;
  textProblem: string | undefined;
  /** The stored agentflow, without the person's changes. */
  stored: FlowDocument;
  isChanged: boolean;
  /** When the person changed it last, in epoch seconds; undefined without changes. */
  changedAt: number | undefined;
  /** Whether another version was stored since the person began to edit this one. */
  isOutdated: boolean;
  /** The digest of the version that the person changes; undefined for a new agentflow. */
  digest: string | undefined;
  /** Returns the top-level fields that the person has changed. */
  changes(): Fields;
  /** Returns the top-level fields that the person has changed and that have another value in the stored version, too. */
  changedByBoth(): string[];
  setText(text: string): void;
  change(document: FlowDocument): void;
  undo(): void;
  redo(): void;
  discard(): void;
  /** Returns the version that is stored now with the person's changes. */
  rebased(): FlowDocument;
  /** Puts the changes on top of the version that is stored now. */
  rebase(): void;
  /** Removes the changes that were saved. Changes made since then are kept. */
  saved(agentflow: Edited): void;
}

/** Keeps the person's changes to an agentflow in this browser until they are saved or discarded. */
export function useEditor(agentflow: Edited | undefined, mayEdit: boolean): Editor {
  const kept = useKeptDraft(agentflow?._id ?? 'new');
  const draft = mayEdit ? kept.draft : undefined;
  // Compare by content, so that refetching an unchanged agentflow does not create a new document.
  const storedText = useMemo(() => textOf(agentflow ? documentOf(agentflow) : newDocument), [agentflow]);
  const stored = useMemo(() => documentIn(storedText), [storedText]);
  const { text, base, digest } = draft ?? { text: storedText, base: storedText, digest: agentflow?.digest };
  const [document, textProblem] = useMemo(() => read(text), [text]);
  const history = useHistory();
  const show = (next: string | undefined) => {
    if (next === undefined) return;
    kept.keep(next === base ? undefined : { text: next, base, digest, at: Date.now() / 1000 });
  };
  const setText = (next: string, place?: string) => {
    if (next === text) return;
    history.note(text, place);
    show(next);
  };
  const changes = () => (document ? changesOf(document, documentIn(base)) : {});
  const rebased = (): FlowDocument => ({ ...stored, ...changes() });
  return {
    text,
    document,
    textProblem,
    stored,
    isChanged: draft !== undefined,
    changedAt: draft?.at,
    isOutdated: digest !== agentflow?.digest,
    digest,
    changes,
    changedByBoth: () => {
      const theirs = changesOf(stored, documentIn(base));
      return Object.keys(changes()).filter((name) => name in theirs);
    },
    // Typing in the JSON is one change.
    setText: (next) => setText(next, 'json'),
    change: (next) => setText(textOf(next), changedPlace(document, next)),
    canUndo: history.canUndo,
    canRedo: history.canRedo,
    settle: history.settle,
    undo: () => show(history.undo(text)),
    redo: () => show(history.redo(text)),
    discard: () => {
      history.note(text, undefined);
      kept.keep(undefined);
    },
    rebased,
    rebase: () => {
      history.note(text, undefined);
      kept.keep({ text: textOf(rebased()), base: storedText, digest: agentflow?.digest, at: Date.now() / 1000 });
    },
    saved: (next) => {
      const newest = kept.newest();
      // Changes to a new agentflow start from nothing, whatever was created from it.
      const basis = agentflow ? { base: textOf(documentOf(next)), digest: next.digest } : undefined;
      if (newest) kept.keep(newest.text === text ? undefined : { ...newest, ...basis });
    },
  };
}

function read(text: string): [document: FlowDocument | undefined, problem: string | undefined] {
  try {
    return [documentIn(text), undefined];
  } catch (error) {
    return [undefined, error instanceof SyntaxError ? `The JSON is not valid: ${error.message}` : String(error)];
  }
}

/** Selects an agent or a step by its place among the agents and then the steps, so that it can get another id. */
export function useSelectedNode(document: FlowDocument) {
  const [at, select] = useState(0);
  return { at: Math.max(0, Math.min(at, nodesOf(document).length - 1)), select };
}
