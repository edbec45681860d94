import type { KeyboardEvent } from 'react';
import { ActionButton } from '../parts.js';
import type { Editor } from './use-editor.js';

export function UndoButtons({ editor }: { editor: Editor }) {
  return (
    <>
      <ActionButton name="Undo" isDisabled={!editor.canUndo} onClick={editor.undo} />
      <ActionButton name="Redo" isDisabled={!editor.canRedo} onClick={editor.redo} />
    </>
  );
}

/** Ctrl+Z undoes, Ctrl+Shift+Z and Ctrl+Y redo, also in a field: all parts of the editor have one history. */
export function undoKeys(editor: Editor) {
  return (event: KeyboardEvent): void => {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || (key !== 'z' && key !== 'y')) return;
    event.preventDefault();
    if (key === 'y' || event.shiftKey) editor.redo();
    else editor.undo();
  };
}
