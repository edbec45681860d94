import { useNavigate } from '@tanstack/react-router';
import { call, capitalized, type Execution, type Step } from '../api.js';
import { ChooseRun } from '../compare/choose-run.js';
import { Confirm, ConfirmButton } from '../confirm.js';
import { Reason } from '../field.js';
import { ActionButton } from '../parts.js';
import { useDraft } from '../use-draft.js';
import { useMay } from '../session.js';
import { actionsOf, isOver, type Action } from '../states.js';
import { useDialog } from '../use-dialog.js';
import { Rerun } from './rerun.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';

const texts: Record<Action, { question: string; hint: string }> = {
  execute: { question: 'Execute this run?', hint: 'The run starts immediately and uses credits.' },
  pause: { question: 'Pause this run?', hint: 'The run stops before its next step.' },
  resume: { question: 'Resume this run?', hint: 'The run continues with its next step.' },
  cancel: { question: 'Cancel this run?', hint: 'The current step is interrupted. A cancelled run cannot be resumed.' },
};

/** The primary button moves the run on. */
const looks: Partial<Record<Action, string | undefined>> = {
  execute: buttonStyles.primary,
  resume: buttonStyles.primary,
  cancel: buttonStyles.danger,
};

const operationOf = (action: Action) => `post /execute_flow/{execution_id}/${action}`;

interface ActionsOptions {
  run: Execution;
  steps: readonly Step[];
  onDone: () => Promise<unknown>;
}

/** Offers the actions that the state allows and the person may perform. Each opens a dialog to confirm it. */
export function Actions({ run, steps, onDone }: ActionsOptions) {
  const may = useMay();
  const [dialog, setDialog] = useDialog();
  const close = () => setDialog(undefined);
  const possible = actionsOf(run, may);
  // A dialog stays open when the state of the run changes, so that the person sees the API's response.
  const open = (Object.keys(texts) as Action[]).find((action) => action === dialog);
  return (
    <>
      {possible.map((action) => (
        <button key={action} type="button" className={looks[action]} onClick={() => setDialog(action)}>
          {capitalized(action)}…
        </button>
      ))}
      {isOver(run) && may('post /execute_flow/{execution_id}/rerun') && (
        <ActionButton name="Rerun…" onClick={() => setDialog('rerun')} />
      )}
      {may('get /{projectID}/execution_flows') && (
        <ActionButton name="Compare with" onClick={() => setDialog('compare')} />
      )}
      {isOver(run) && <DeleteRun run={run} />}
      {dialog === 'compare' && <ChooseRun run={run} onClose={close} />}
      {dialog === 'rerun' && isOver(run) && <Rerun run={run} steps={steps} onClose={close} />}
      {open && may(operationOf(open)) && <Confirmation action={open} run={run} onDone={onDone} onClose={close} />}
    </>
  );
}

function DeleteRun({ run: { execution_id, goal } }: { run: Execution }) {
  const navigate = useNavigate();
  return (
    <ConfirmButton
      operation="delete /execute_flow/{execution_id}"
      button="Delete…"
      title="Delete this run?"
      action="Delete run"
      isFinal
      act={() => call('delete', '/execute_flow/{execution_id}', { params: { execution_id } })}
      invalidates={[['runs']]}
      onDone={() => void navigate({ to: '/runs' })}
    >
      <p>
        <bdi>{goal}</bdi>
      </p>
      <p className={textStyles.soft}>
        This deletes its steps, events and documents, and its history in Temporal. Its lifecycles, approvals and audit
        entries stay. This cannot be undone.
      </p>
    </ConfirmButton>
  );
}

interface ConfirmationOptions {
  action: Action;
  run: Execution;
  onDone: () => Promise<unknown>;
  onClose: () => void;
}

function Confirmation({ action, run, onDone, onClose }: ConfirmationOptions) {
  const { question, hint } = texts[action];
  const [reason, setReason] = useDraft(`${action}.${run.execution_id}`);
  const params = { execution_id: run.execution_id };
  const act = async (options: { idempotencyKey: string }) => {
    try {
      if (action === 'execute')
        await call('post', '/execute_flow/{execution_id}/execute', { params, body: {} }, options);
      else
        await call(
          'post',
          `/execute_flow/{execution_id}/${action}`,
          { params, body: reason.trim() === '' ? {} : { reason: reason.trim() } },
          options,
        );
      setReason('');
    } finally {
      void onDone();
    }
  };
  return (
    <Confirm
      title={question}
      action={`${capitalized(action)} run`}
      isFinal={action === 'cancel'}
      act={act}
      onClose={onClose}
    >
      <p>
        <bdi>{run.goal}</bdi>
      </p>
      <p className={textStyles.soft}>{hint}</p>
      {action !== 'execute' && <Reason text={reason} onChange={setReason} />}
    </Confirm>
  );
}
