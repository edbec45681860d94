import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Form } from './field.js';
import { Window } from './parts.js';
import { useMay } from './session.js';
import { useIsGone } from './use-is-gone.js';
import { useSubmit } from './use-submit.js';
import buttonStyles from './styles/button.module.css';
import controlStyles from './styles/controls.module.css';

interface ConfirmOptions<Result> {
  title: string;
  /** The label of the button. */
  action: string;
  /** Whether the action cannot be undone. */
  isFinal?: boolean;
  act: (options: { idempotencyKey: string }) => Promise<Result>;
  nameOf?: (path: string) => string;
  /** The query keys to invalidate after the action, even after an error: another change may have caused it. */
  invalidates?: readonly (readonly unknown[])[];
  onDone?: (result: Result) => void;
  onClose: () => void;
  /** The consequence of the action, and its input fields. */
  children: ReactNode;
  /** More buttons. */
  tools?: ReactNode;
  isDrawer?: boolean;
  /** Rendered below the form, for example another form. */
  below?: ReactNode;
}

/** Asks the person to confirm an action. After an error it stays open and keeps everything that the person typed. */
export function Confirm<Result>(props: ConfirmOptions<Result>) {
  const { title, action, isFinal = false, act, nameOf, invalidates = [], onDone, onClose, children } = props;
  const { tools, isDrawer = false, below } = props;
  const queries = useQueryClient();
  const isGone = useIsGone();
  const { error, isBusy, submit } = useSubmit(async (options) => {
    try {
      const result = await act(options);
      // The person may have closed this dialog, and opened another one.
      if (!isGone.current) onClose();
      onDone?.(result);
    } finally {
      for (const queryKey of invalidates) void queries.invalidateQueries({ queryKey });
    }
  });
  return (
    <Window title={title} isDrawer={isDrawer} onClose={onClose}>
      <Form error={error} onSubmit={() => void submit()} {...(nameOf && { nameOf })}>
        {children}
        <p className={controlStyles.actions}>
          {tools}
          {/* A disabled button would lose the focus, and then Escape would not close the dialog. */}
          <button className={isFinal ? buttonStyles.danger : buttonStyles.primary} aria-disabled={isBusy}>
            {action}
          </button>
        </p>
      </Form>
      {below}
    </Window>
  );
}

interface ButtonOptions<Result> extends Omit<ConfirmOptions<Result>, 'onClose'> {
  /** The operation that the person must be allowed to call, as `<method> <path>`. Otherwise there is no button. */
  operation?: string;
  /** The label of the button that opens the dialog. */
  button: string;
  /** The accessible name of that button, if the label is not unique on the page. */
  buttonName?: string;
  /** By default, the button of a final action is red. */
  className?: string;
}

export function ConfirmButton<Result>(props: ButtonOptions<Result>) {
  const {
    operation,
    button,
    buttonName,
    className = props.isFinal ? buttonStyles.danger : undefined,
    ...confirm
  } = props;
  const [isOpen, setOpen] = useState(false);
  const may = useMay();
  if (operation !== undefined && !may(operation)) return null;
  return (
    <>
      <button type="button" className={className} aria-label={buttonName} onClick={() => setOpen(true)}>
        {button}
      </button>
      {isOpen && <Confirm {...confirm} onClose={() => setOpen(false)} />}
    </>
  );
}
