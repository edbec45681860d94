import { useMemo, useState } from 'react';
import { useDraft } from '../parts.js';
import {
  changesOf,
  documentIn,
  documentOf,
  newDocument,
  textOf,
  type Agentflow,
  type Fields,
  type FlowDocument,
} from './document.js';

export interface Editor {
  /** The JSON as it was typed. */
  text: string;
  /** Undefined while the text is not a document. */
  document: FlowDocument | undefined;
  /** Why the text is not a document. */
  textProblem: string | undefined;
  /** The stored agentflow, without the changes. */
  stored: FlowDocument;
  isChanged: boolean;
  /** Somebody has changed the agentflow since these changes began. */
  isOutdated: boolean;
  /** The fields that differ from what they were when the changes began. */
  changes(): Fields;
  setText(text: string): void;
  change(document: FlowDocument): void;
  discard(): void;
}

/** The changes of an agentflow, which a reload does not lose. */
export function useEditor(agentflow: Agentflow | undefined): Editor {
  const key = `agentflow.${agentflow?._id ?? 'new'}`;
  const [draft, setDraft] = useDraft(key);
  const [base, setBase] = useDraft(`${key}.base`);
  // Another answer with the same content is the same document.
  const storedText = useMemo(() => textOf(agentflow ? documentOf(agentflow) : newDocument), [agentflow]);
  const stored = useMemo(() => documentIn(storedText), [storedText]);
  const text = draft === '' ? storedText : draft;
  const before = draft === '' || base === '' ? storedText : base;
  const [document, textProblem] = useMemo(() => read(text), [text]);
  const setText = (next: string) => {
    setBase(next === before ? '' : before);
    setDraft(next === before ? '' : next);
  };
  return {
    text,
    document,
    textProblem,
    stored,
    isChanged: draft !== '',
    isOutdated: before !== storedText,
    changes: () => (document ? changesOf(document, documentIn(before)) : {}),
    setText,
    change: (next) => setText(textOf(next)),
    discard: () => {
      setDraft('');
      setBase('');
    },
  };
}

function read(text: string): [document: FlowDocument | undefined, problem: string | undefined] {
  try {
    return [documentIn(text), undefined];
  } catch (error) {
    return [undefined, error instanceof SyntaxError ? `The JSON cannot be read: ${error.message}` : String(error)];
  }
}

/** Which agent is shown in the form. */
export function useSelectedAgent(document: FlowDocument | undefined) {
  const [id, select] = useState<string>();
  const found = document?.agents.findIndex(({ _id }) => _id === id) ?? -1;
  return { at: Math.max(0, found), select };
}
