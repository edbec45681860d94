import { useRef } from 'react';
import { TextField } from '../field.js';
import { idOf, nodesOf, withValueAt, type FlowDocument } from './document.js';
import { withNode, withPointersTo } from './nodes.js';

interface IdOptions {
  label: string;
  hint?: string | undefined;
  problem: string | undefined;
  document: FlowDocument;
  /** The place of the node among the agents and then the steps. */
  at: number;
  onChange: (document: FlowDocument) => void;
}

/** The id of an agent or a step. The pointers that lead to it follow, unless another node has the id that is being typed. */
export function IdField({ document, at, onChange, ...field }: IdOptions) {
  const node = nodesOf(document)[at] ?? {};
  // The id that the pointers have.
  const known = useRef(idOf(node));
  const rename = (id: string) => {
    const renamed = withNode(document, at, withValueAt(node, '_id', id));
    const isFree = id !== '' && !nodesOf(document).some((other) => other !== node && idOf(other) === id);
    onChange(isFree ? withPointersTo(renamed, known.current, id) : renamed);
    if (isFree) known.current = id;
  };
  return <TextField {...field} text={idOf(node)} onChange={rename} />;
}
