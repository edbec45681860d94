import { Link, useNavigate } from '@tanstack/react-router';
import { call } from '../api.js';
import { ConfirmButton } from '../confirm.js';
import { ActionButton } from '../parts.js';
import { useMay } from '../session.js';
import { useDialog } from '../use-dialog.js';
import type { Agentflow } from './document.js';
import { TestRun } from './test-run.js';
import type { Editor } from './use-editor.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';

interface ActionOptions {
  agentflow: Agentflow;
  editor: Editor;
  /** @param text says what was done */
  onDone: (text: string) => void;
}

export function AgentflowActions({ agentflow: { _id: id, name }, editor, onDone }: ActionOptions) {
  const may = useMay();
  const navigate = useNavigate();
  const [dialog, setDialog] = useDialog();
  const mayRun = may('post /execute_flow') && may('post /execute_flow/{execution_id}/execute');
  const params = { id };
  const unsaved = editor.isChanged && ' Unsaved changes are not included.';
  return (
    <>
      <Link className={buttonStyles.link} to="/runs" search={{ agentflow: id }}>
        View runs
      </Link>
      {mayRun && <ActionButton name="Test run…" onClick={() => setDialog('test')} />}
      {dialog === 'test' && mayRun && (
        <TestRun id={id} stored={editor.stored} isChanged={editor.isChanged} onClose={() => setDialog(undefined)} />
      )}
      <ConfirmButton
        operation="post /agentflow/{id}/promote"
        button="Promote…"
        title={`Promote ${name}?`}
        action="Promote agentflow"
        act={() => call('post', '/agentflow/{id}/promote', { params })}
        invalidates={[['agentflow', id]]}
        onDone={({ version }) => onDone(`Promoted as version ${version}.`)}
      >
        <p className={textStyles.soft}>
          Publishes the saved agentflow as a version, and puts it into production: schedules, triggers, /v1/run-agent
          and /execute_flow run it from then on. Test runs take the agentflow as it is saved.{unsaved}
        </p>
      </ConfirmButton>
      <ConfirmButton
        operation="delete /agentflow/{id}"
        button="Delete…"
        title={`Delete ${name}?`}
        action="Delete agentflow"
        isFinal
        act={() => call('delete', '/agentflow/{id}', { params })}
        onDone={() => {
          editor.discard();
          void navigate({ to: '/agentflows' });
        }}
      >
        <p className={textStyles.soft}>
          This cannot be undone. Runs keep their own copies. Schedules that use this agentflow fail.
        </p>
      </ConfirmButton>
    </>
  );
}
