import { Link, useNavigate } from '@tanstack/react-router';
import { call } from '../api.js';
import { Confirm } from '../confirm.js';
import { ActionButton } from '../parts.js';
import { useMay } from '../session.js';
import { useDialog } from '../use-dialog.js';
import type { Agentflow } from './document.js';
import { TestRun } from './test-run.js';
import type { Editor } from './use-editor.js';

interface ActionOptions {
  agentflow: Agentflow;
  editor: Editor;
  /** @param text says what was done */
  onDone: (text: string) => void;
}

const texts = {
  promote: {
    name: 'Promote',
    hint: 'Creates a fixed version of the saved agentflow. From then on, /v1/run-agent runs this version.',
    operation: 'post /agentflow/{id}/promote',
  },
  delete: {
    name: 'Delete',
    hint: 'This cannot be undone. Runs keep their own copies. Schedules that use this agentflow fail.',
    operation: 'delete /agentflow/{id}',
  },
} as const;
type Action = keyof typeof texts;

export function AgentflowActions({ agentflow, editor, onDone }: ActionOptions) {
  const may = useMay();
  const [dialog, setDialog] = useDialog();
  const close = () => setDialog(undefined);
  const action = (Object.keys(texts) as Action[]).find((name) => name === dialog && may(texts[name].operation));
  const mayRun = may('post /execute_flow') && may('post /execute_flow/{execution_id}/execute');
  return (
    <>
      <Link className="button" to="/runs" search={{ agentflow: agentflow._id }}>
        View runs
      </Link>
      {mayRun && <ActionButton name="Test run…" onClick={() => setDialog('test')} />}
      {(Object.keys(texts) as Action[])
        .filter((action) => may(texts[action].operation))
        .map((action) => (
          <ActionButton
            key={action}
            name={`${texts[action].name}…`}
            isFinal={action === 'delete'}
            onClick={() => setDialog(action)}
          />
        ))}
      {dialog === 'test' && mayRun && (
        <TestRun id={agentflow._id} stored={editor.stored} isChanged={editor.isChanged} onClose={close} />
      )}
      {action && <Confirmation action={action} agentflow={agentflow} editor={editor} onDone={onDone} onClose={close} />}
    </>
  );
}

function Confirmation(props: ActionOptions & { action: Action; onClose: () => void }) {
  const { action, agentflow, editor, onDone, onClose } = props;
  const { name, hint } = texts[action];
  const navigate = useNavigate();
  const params = { id: agentflow._id };
  const act = async () => {
    if (action === 'promote') {
      const { version } = await call('post', '/agentflow/{id}/promote', { params });
      return onDone(`Promoted as version ${version}.`);
    }
    await call('delete', '/agentflow/{id}', { params });
    editor.discard();
    return navigate({ to: '/agentflows' });
  };
  return (
    <Confirm
      title={`${name} ${agentflow.name}?`}
      action={`${name} agentflow`}
      isFinal={action === 'delete'}
      act={act}
      invalidates={action === 'promote' ? [['agentflow', agentflow._id]] : []}
      onClose={onClose}
    >
      <p className="soft">
        {hint}
        {editor.isChanged && ' Unsaved changes are not included.'}
      </p>
    </Confirm>
  );
}
