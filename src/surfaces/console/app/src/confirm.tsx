import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Form } from './field.js';
import { Window } from './parts.js';
import { useSubmit } from './use-submit.js';

interface ConfirmOptions<Result> {
  title: string;
  /** What the button says. */
  action: string;
  /** Cannot be taken back. */
  isFinal?: boolean;
  act: (options: { idempotencyKey: string }) => Promise<Result>;
  nameOf?: (path: string) => string;
  /** What is read again afterwards, also after a refusal: it may be what changed. */
  invalidates?: readonly (readonly unknown[])[];
  onDone?: (result: Result) => void;
  onClose: () => void;
  /** What will happen, and the fields of the action. */
  children: ReactNode;
  /** Other buttons. */
  tools?: ReactNode;
}

/** Asks before something is done, and stays open with everything that was typed if it is refused. */
export function Confirm<Result>(given: ConfirmOptions<Result>) {
  const { title, action, isFinal = false, act, nameOf, invalidates = [], onDone, onClose, children, tools } = given;
  const queries = useQueryClient();
  const { error, isBusy, submit } = useSubmit(async (options) => {
    try {
      const result = await act(options);
      onClose();
      onDone?.(result);
    } finally {
      for (const queryKey of invalidates) void queries.invalidateQueries({ queryKey });
    }
  });
  return (
    <Window title={title} onClose={onClose}>
      <Form error={error} onSubmit={() => void (isBusy || submit())} {...(nameOf && { nameOf })}>
        {children}
        <p className="actions">
          {tools}
          {/* A disabled button would lose the focus, and Escape with it. */}
          <button className={isFinal ? 'danger' : 'primary'} aria-disabled={isBusy}>
            {action}
          </button>
        </p>
      </Form>
    </Window>
  );
}
