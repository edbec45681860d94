import { useState } from 'react';
import { call, newKey, type Execution } from '../api.js';
import { Problem, useDraft, Window } from '../parts.js';
import { useMay } from '../session.js';
import { isOver, movesOf, type Move } from '../states.js';
import { Rerun } from './rerun.js';

type Action = Move | 'execute';

const texts: Record<Action, { name: string; question: string; hint: string }> = {
  execute: { name: 'Execute', question: 'Execute this run?', hint: 'It starts at once and uses credits.' },
  pause: { name: 'Pause', question: 'Pause this run?', hint: 'It stops before its next step.' },
  resume: { name: 'Resume', question: 'Resume this run?', hint: 'It goes on with its next step.' },
  cancel: {
    name: 'Cancel',
    question: 'Cancel this run?',
    hint: 'Its current step is interrupted. It cannot be resumed.',
  },
};

/** What the state allows and the person may do; each is confirmed. */
export function Actions({ run, onDone }: { run: Execution; onDone: () => Promise<unknown> }) {
  const may = useMay();
  const [asked, setAsked] = useState<Action>();
  const [isRerunning, setRerunning] = useState(false);
  const possible: Action[] = [...(run.status === 'ready' ? (['execute'] as const) : []), ...movesOf(run)];
  const offered = possible.filter((action) => may(`post /execute_flow/{execution_id}/${action}`));
  return (
    <>
      {offered.map((action) => (
        <button
          key={action}
          type="button"
          className={action === 'cancel' ? '' : 'primary'}
          onClick={() => setAsked(action)}
        >
          {texts[action].name}…
        </button>
      ))}
      {isOver(run) && may('post /execute_flow/{execution_id}/rerun') && (
        <button type="button" onClick={() => setRerunning(true)}>
          Rerun…
        </button>
      )}
      {isRerunning && <Rerun run={run} onClose={() => setRerunning(false)} />}
      {asked && <Confirmation action={asked} run={run} onDone={onDone} onClose={() => setAsked(undefined)} />}
    </>
  );
}

interface ConfirmationOptions {
  action: Action;
  run: Execution;
  onDone: () => Promise<unknown>;
  onClose: () => void;
}

function Confirmation({ action, run, onDone, onClose }: ConfirmationOptions) {
  const { name, question, hint } = texts[action];
  const [reason, setReason] = useDraft(`${action}.${run.execution_id}`);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  // A repeat of this confirmation is the same request.
  const [idempotencyKey] = useState(newKey);
  const params = { execution_id: run.execution_id };
  const submit = async () => {
    setBusy(true);
    try {
      if (action === 'execute')
        await call('post', '/execute_flow/{execution_id}/execute', { params, body: {} }, { idempotencyKey });
      else
        await call(
          'post',
          `/execute_flow/{execution_id}/${action}`,
          { params, body: reason.trim() === '' ? {} : { reason: reason.trim() } },
          { idempotencyKey },
        );
      setReason('');
      onClose();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
      await onDone();
    }
  };
  return (
    <Window title={question} onClose={onClose}>
      <p>
        <bdi>{run.goal}</bdi>
      </p>
      <p className="soft">{hint}</p>
      <Problem error={error} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {action !== 'execute' && (
          <label>
            Reason (optional)
            <input value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} autoFocus />
          </label>
        )}
        <p className="actions">
          <button className={action === 'cancel' ? 'danger' : 'primary'} disabled={isBusy}>
            {name} the run
          </button>
        </p>
      </form>
    </Window>
  );
}
