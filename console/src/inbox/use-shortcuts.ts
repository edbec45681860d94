import { useEffect } from 'react';

/** Calls the action of a key that is pressed outside of fields and dialogs. */
export function useShortcuts(actions: Readonly<Record<string, () => void>>): void {
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

export const isDialogOpen = (): boolean => document.querySelector('[role="dialog"]') !== null;

const fields = 'input:not([type="checkbox"]), textarea, select, pre, [contenteditable]';

/** Whether a key belongs to a field, to a dialog, or to a text that scrolls. */
function isForAnother(target: EventTarget | null): boolean {
  return (target instanceof Element && target.closest(fields) !== null) || isDialogOpen();
}
