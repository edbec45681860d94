import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, isAnswer, newKey } from '../api.js';
import { Field } from '../field.js';
import { Problem, useDraft, Window } from '../parts.js';
import { refusalByField } from '../refusal-by-field.js';
import { projectId } from '../session.js';
import { isFields, text, type FlowDocument, type Fields } from './document.js';

interface TestRunOptions {
  id: string;
  stored: FlowDocument;
  isChanged: boolean;
  onClose: () => void;
}

const fields = new Set(['goal', 'input_variables']);

/** Prepares a run with these inputs, executes it, and opens it. */
export function TestRun({ id, stored, isChanged, onClose }: TestRunOptions) {
  const [goal, setGoal] = useDraft(`test-run.goal.${id}`);
  const [inputs, setInputs] = useDraft(`test-run.inputs.${id}`);
  const { error, isBusy, submit } = useTestRun(id);
  const { fields: problems, top } = refusalByField(error, (path) => fieldOf(path));
  const shownInputs = inputs || JSON.stringify(exampleInputs(stored), null, 2);
  return (
    <Window title="Test run" onClose={onClose}>
      <p className="soft">
        The saved agentflow runs at once and uses credits.
        {isChanged && ' What you have not saved is not part of it.'}
      </p>
      <Problem error={top} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit(goal, shownInputs);
        }}
      >
        <Field label="Goal" problem={problems.goal}>
          {(control) => (
            <textarea {...control} rows={3} value={goal} onChange={(event) => setGoal(event.target.value)} autoFocus />
          )}
        </Field>
        <Field label="Input variables" problem={problems.input_variables} hint="A JSON object.">
          {(control) => (
            <textarea
              {...control}
              className="code"
              rows={5}
              spellCheck={false}
              value={shownInputs}
              onChange={(event) => setInputs(event.target.value)}
            />
          )}
        </Field>
        <p className="actions">
          <button className="primary" disabled={isBusy}>
            Run it
          </button>
        </p>
      </form>
    </Window>
  );
}

function fieldOf(path: string): string | undefined {
  const [first = ''] = path.split('.');
  return fields.has(first) ? first : undefined;
}

function useTestRun(agentflow_id: string) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  // A repeat after a lost answer is the same request.
  const [keys, setKeys] = useState(() => [newKey(), newKey()] as const);
  const navigate = useNavigate();
  const submit = async (goal: string, inputs: string) => {
    setBusy(true);
    try {
      const body = { agentflow_id, goal, input_variables: inputsIn(inputs) };
      const { execution_id } = await call('post', '/execute_flow', { body }, { idempotencyKey: keys[0] });
      const params = { execution_id };
      await call('post', '/execute_flow/{execution_id}/execute', { params, body: {} }, { idempotencyKey: keys[1] });
      await navigate({ to: '/projects/$projectId/runs/$runId', params: { projectId, runId: execution_id } });
    } catch (failure) {
      setError(failure);
      if (isAnswer(failure)) setKeys([newKey(), newKey()]);
      setBusy(false);
    }
  };
  return { error, isBusy, submit };
}

function inputsIn(typed: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(typed);
  } catch (error) {
    throw new Error(`The input variables are not JSON: ${error instanceof Error ? error.message : ''}`, {
      cause: error,
    });
  }
  if (!isFields(value)) throw new Error('The input variables must be a JSON object.');
  return value;
}

/** The variables that the prompts declare, without values. */
function exampleInputs({ agents }: FlowDocument): Fields {
  const declared = agents.flatMap(({ prompt }) => {
    const variables: unknown = isFields(prompt) ? prompt.variables : undefined;
    return Array.isArray(variables) ? (variables as unknown[]).map(text) : [];
  });
  return Object.fromEntries(declared.filter((name) => name !== '' && name !== 'goal').map((name) => [name, '']));
}
