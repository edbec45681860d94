import { call } from '../api.js';
import { Confirm } from '../confirm.js';
import { TextField } from '../field.js';
import { useDraft } from '../use-draft.js';
import { useStart } from '../run/use-start.js';
import { type FlowDocument } from './document.js';
import { exampleInputs, fieldsIn } from './try-values.js';
import textStyles from '../styles/text.module.css';

interface TestRunOptions {
  id: string;
  stored: FlowDocument;
  isChanged: boolean;
  onClose: () => void;
}

export function TestRun({ id, stored, isChanged, onClose }: TestRunOptions) {
  const [goal, setGoal] = useDraft(`test-run.goal.${id}`);
  const [inputs, setInputs] = useDraft(`test-run.inputs.${id}`);
  const { start, open } = useStart();
  const shownInputs = inputs || JSON.stringify(exampleInputs(stored, stored.agents), null, 2);
  const act = async (options: { idempotencyKey: string }) => {
    const body = { agentflow_id: id, goal, input_variables: fieldsIn('input_variables', shownInputs), draft: true };
    return start(body, options.idempotencyKey, () => call('post', '/execute_flow', { body }, options));
  };
  return (
    <Confirm title="Test run" action="Start test run" act={act} onDone={open} onClose={onClose}>
      <p className={textStyles.soft}>
        The saved agentflow starts immediately and uses credits.
        {isChanged && ' Unsaved changes are not included.'}
      </p>
      <TextField label="Goal" name="goal" rows={3} text={goal} onChange={setGoal} autoFocus />
      <TextField
        label="Input variables"
        name="input_variables"
        hint="A JSON object."
        className={textStyles.code}
        spellCheck={false}
        rows={5}
        text={shownInputs}
        onChange={setInputs}
      />
    </Confirm>
  );
}
