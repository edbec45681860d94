import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Problem, Window } from './parts.js';
import { useSubmit } from './use-submit.js';

interface ConfirmOptions {
  title: string;
  /** What the button says. */
  action: string;
  /** Cannot be taken back. */
  isFinal?: boolean;
  act: (options: { idempotencyKey: string }) => Promise<unknown>;
  /** What is read again afterwards, also after a refusal: it may be what changed. */
  invalidates: readonly (readonly unknown[])[];
  onDone?: () => void;
  onClose: () => void;
  /** What will happen, and the fields of the action. */
  children: ReactNode;
}

/** Asks before something is done, and stays open with everything that was typed if it is refused. */
export function Confirm(given: ConfirmOptions) {
  const { title, action, isFinal = false, act, invalidates, onDone, onClose, children } = given;
  const queries = useQueryClient();
  const { error, isBusy, submit } = useSubmit(async (options) => {
    try {
      await act(options);
      onDone?.();
      onClose();
    } finally {
      for (const queryKey of invalidates) void queries.invalidateQueries({ queryKey });
    }
  });
  return (
    <Window title={title} onClose={onClose}>
      <Problem error={error} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void submit();
        }}
      >
        {children}
        <p className="actions">
          {/* A disabled button would lose the focus, and Escape with it. */}
          <button className={isFinal ? 'danger' : 'primary'} aria-disabled={isBusy}>
            {action}
          </button>
        </p>
      </form>
    </Window>
  );
}
