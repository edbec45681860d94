import { useMemo, useState } from 'react';
import { useDraft } from '../use-draft.js';
import {
  changesOf,
  documentIn,
  documentOf,
  newDocument,
  nodesOf,
  textOf,
  type Agentflow,
  type Fields,
  type FlowDocument,
} from './document.js';
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
  /** Whether somebody else has changed the agentflow since the person began to edit it. */
  isOutdated: boolean;
  /** Returns the top-level fields that the person has changed. */
  changes(): Fields;
  setText(text: string): void;
  change(document: FlowDocument): void;
  undo(): void;
  redo(): void;
  discard(): void;
  /** Removes the changes that were saved. Changes made since then are kept. */
  saved(agentflow: Agentflow): void;
}

/** Keeps the person's changes to an agentflow across a reload. */
export function useEditor(agentflow: Agentflow | undefined): Editor {
  const key = `agentflow.${agentflow?._id ?? 'new'}`;
  const [draft, setDraft, forget] = useDraft(key);
  const [base, setBase] = useDraft(`${key}.base`);
  // Compare by content, so that refetching an unchanged agentflow does not create a new document.
  const storedText = useMemo(() => textOf(agentflow ? documentOf(agentflow) : newDocument), [agentflow]);
  const stored = useMemo(() => documentIn(storedText), [storedText]);
  const text = draft === '' ? storedText : draft;
  const before = draft === '' || base === '' ? storedText : base;
  const [document, textProblem] = useMemo(() => read(text), [text]);
  const history = useHistory();
  const show = (next: string | undefined) => {
    if (next === undefined) return;
    setBase(next === before ? '' : before);
    setDraft(next === before ? '' : next);
  };
  const setText = (next: string, place?: string) => {
    if (next === text) return;
    history.note(text, place);
    show(next);
  };
  return {
    text,
    document,
    textProblem,
    stored,
    isChanged: draft !== '',
    isOutdated: before !== storedText,
    changes: () => (document ? changesOf(document, documentIn(before)) : {}),
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
      setDraft('');
      setBase('');
    },
    // Changes to a new agentflow start from nothing, whatever was created from it.
    saved: (next) => setBase(forget(draft) || !agentflow ? '' : textOf(documentOf(next))),
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
