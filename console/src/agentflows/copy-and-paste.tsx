import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { ActionButton } from '../parts.js';
import { Changes, useIsReadOnly } from '../read-only.js';
import { useJsonDraft } from '../use-draft.js';
import type { FormOptions } from './agent-form.js';
import { nodeName, nodesOf, type Fields } from './document.js';
import { withCopiedNode } from './nodes.js';
import controlStyles from '../styles/controls.module.css';

export interface ChoiceOptions extends FormOptions {
  /** The place of the selected node among the agents and then the steps. */
  chosen: number;
  onSelect: (at: number) => void;
}

interface Options extends ChoiceOptions {
  /** The graph and the list of nodes, where the keys work. */
  children: ReactNode;
}

/** Copies the chosen agent or step, also to another agentflow, by buttons or by Ctrl+C and Ctrl+V. */
export function CopyAndPaste({ document, chosen, onSelect, onChange, children }: Options) {
  const isReadOnly = useIsReadOnly();
  const [copied, setCopied] = useJsonDraft<Fields>('copied-node');
  const [done, setDone] = useState('');
  const node = nodesOf(document)[chosen];
  const hasCopy = Object.keys(copied).length > 0;
  const copy = () => {
    if (!node) return;
    setCopied(node);
    setDone(`Copied ${nodeName(node)}.`);
  };
  const paste = () => {
    if (!hasCopy) return;
    const { document: next, at } = withCopiedNode(document, copied, chosen);
    onChange(next);
    onSelect(at);
    setDone(`Pasted ${nodeName(copied)}.`);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || isReadOnly) return;
    const act = { c: copy, v: paste }[event.key.toLowerCase()];
    // A selected text is copied as usual.
    if (!act || !getSelection()?.isCollapsed) return;
    event.preventDefault();
    act();
  };
  return (
    <div onKeyDown={onKeyDown}>
      {children}
      <Changes>
        <p className={controlStyles.actions}>
          <ActionButton name="Copy" aria-label="Copy the chosen agent or step" onClick={copy} />
          <ActionButton name="Paste" aria-label="Paste an agent or step" isDisabled={!hasCopy} onClick={paste} />
          <span role="status">{done}</span>
        </p>
      </Changes>
    </div>
  );
}
