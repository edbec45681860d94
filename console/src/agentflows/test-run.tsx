import { call, validationError } from '../api.js';
import { Confirm } from '../confirm.js';
import { TextField } from '../field.js';
import { useDraft } from '../use-draft.js';
import { useStart } from '../run/use-start.js';
import { isFields, text, type FlowDocument, type Fields } from './document.js';
import { rowsOf } from './schema-rows.js';
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
  const shownInputs = inputs || JSON.stringify(exampleInputs(stored), null, 2);
  const act = async (options: { idempotencyKey: string }) => {
    const body = { agentflow_id: id, goal, input_variables: inputsIn(shownInputs), draft: true };
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

function inputsIn(typed: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(typed);
  } catch (error) {
    throw validationError('input_variables', `must be valid JSON: ${error instanceof Error ? error.message : ''}`);
  }
  if (!isFields(value)) throw validationError('input_variables', 'must be a JSON object');
  return value;
}

/** Returns the inputs that the schema has and the variables that the prompts declare, with empty values. */
function exampleInputs({ agents, input_schema }: FlowDocument): Fields {
  const typed = (rowsOf(input_schema) ?? []).map(
    ({ name, schema }) => [name, emptyValues[text(schema.type)] ?? ''] as const,
  );
  const declared = agents.flatMap(({ prompt }) => {
    const variables: unknown = isFields(prompt) ? prompt.variables : undefined;
    return Array.isArray(variables) ? (variables as unknown[]).map(text) : [];
  });
  const untyped = declared.filter((name) => name !== '' && name !== 'goal').map((name) => [name, ''] as const);
  return Object.fromEntries([...untyped, ...typed]);
}

const emptyValues: Readonly<Record<string, unknown>> = { number: 0, integer: 0, boolean: false, array: [], object: {} };
