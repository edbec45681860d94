import { call, validationError, type Execution, type Step } from '../api.js';
import { Confirm } from '../confirm.js';
import { Reason, TextField, SelectField } from '../field.js';
import { failedStart, startsOf } from './rerun-starts.js';
import { useStart } from './use-start.js';
import { useJsonDraft } from '../use-draft.js';
import textStyles from '../styles/text.module.css';

interface Draft {
  from?: string;
  plan?: Plan;
  goal?: string;
  reason?: string;
  inputs?: Record<string, string>;
}

/** Which agentflow a rerun executes. */
const plans = {
  same: 'As it was in this run',
  saved: 'As it is saved now',
  production: 'The release in production',
} as const;
type Plan = keyof typeof plans;
const planNames = Object.entries(plans).map(([value, name]) => ({ value, name }));

type Values = Record<string, unknown>;

/** Returns the text of a field: strings unchanged, other values as JSON. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** @throws ServiceError for a field that is not valid JSON */
function valuesOf(source: Values, texts: Record<string, string>): Values {
  return Object.fromEntries(
    Object.entries(source).map(([name, value]) => {
      const text = texts[name];
      if (text === undefined || typeof value === 'string') return [name, text ?? value];
      try {
        return [name, JSON.parse(text) as unknown];
      } catch {
        throw validationError(name, `must be JSON, like ${textOf(value).slice(0, 100)}`);
      }
    }),
  );
}

function bodyOf(run: Execution, { from = '', plan, goal = run.goal, reason = '', inputs }: Draft) {
  return {
    ...(from !== '' && { from_agent_id: from }),
    ...(plan === 'saved' && { draft: true }),
    ...(plan === 'production' && { channel: 'production' }),
    ...(goal !== run.goal && { goal }),
    ...(reason.trim() !== '' && { reason: reason.trim() }),
    ...(inputs && {
      input_variables: valuesOf(run.input_variables, inputs),
      runtime_inputs: valuesOf(run.runtime_inputs, inputs),
    }),
  };
}

/**
 * Prepares the run again, from any agent and with changed inputs, and starts it. A failed run is offered from where it
 * failed. A reload keeps what the person typed.
 */
export function Rerun({ run, steps, onClose }: { run: Execution; steps: readonly Step[]; onClose: () => void }) {
  const [draft, store] = useJsonDraft<Draft>(`rerun.${run.execution_id}`);
  const { start, open } = useStart();
  const change = (changes: Draft) => store({ ...draft, ...changes });
  const starts = startsOf(run, steps);
  const { goal = run.goal, reason = '', inputs = {}, from = failedStart(run, steps, starts), plan = 'same' } = draft;
  const act = async (options: { idempotencyKey: string }) => {
    const request = { params: { execution_id: run.execution_id }, body: bodyOf(run, { ...draft, from }) };
    return start(request, options.idempotencyKey, () =>
      call('post', '/execute_flow/{execution_id}/rerun', request, options),
    );
  };
  return (
    <Confirm
      title="Rerun this run?"
      action="Rerun"
      act={act}
      // Input fields are named without the prefix of their path.
      nameOf={(path) => path.replace(/^(input_variables|runtime_inputs)\./, '')}
      onDone={(runId) => {
        store({});
        open(runId);
      }}
      onClose={onClose}
    >
      <p className={textStyles.soft}>Creates a new run. It starts immediately and uses credits.</p>
      <SelectField
        label="Start from"
        name="from_agent_id"
        value={from}
        options={[{ value: '', name: 'The beginning' }, ...starts]}
        onChange={(next) => change({ from: next })}
      />
      <SelectField
        label="Agentflow"
        name="channel"
        value={plan}
        options={planNames}
        onChange={(next) => change({ plan: next as Plan })}
      />
      <TextField label="Goal" name="goal" rows={2} text={goal} onChange={(next) => change({ goal: next })} />
      {Object.entries({ ...run.input_variables, ...run.runtime_inputs }).map(([name, value]) => (
        <TextField
          key={name}
          label={typeof value === 'string' ? name : `${name} (JSON)`}
          name={name}
          rows={2}
          text={inputs[name] ?? textOf(value)}
          onChange={(text) => change({ inputs: { ...inputs, [name]: text } })}
        />
      ))}
      <Reason text={reason} onChange={(next) => change({ reason: next })} />
    </Confirm>
  );
}
