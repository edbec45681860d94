import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, isAnswer, newKey, type Execution } from '../api.js';
import { Problem, useDraft, Window } from '../parts.js';
import { projectId, useMay } from '../session.js';
import { inOrder } from './agents.js';

interface Draft {
  from?: string;
  goal?: string;
  reason?: string;
  inputs?: Record<string, string>;
}

type Values = Record<string, unknown>;

/** A value as a field shows it: text as it is, everything else as JSON. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** @throws Error with the name of a field that is not JSON */
function valuesOf(source: Values, texts: Record<string, string>): Values {
  return Object.fromEntries(
    Object.entries(source).map(([name, value]) => {
      const text = texts[name];
      if (text === undefined || typeof value === 'string') return [name, text ?? value];
      try {
        return [name, JSON.parse(text) as unknown];
      } catch {
        throw new Error(`The field ${name} must be JSON, like ${textOf(value).slice(0, 100)}.`);
      }
    }),
  );
}

interface Keys {
  rerun: string;
  execute: string;
}

/** @returns the id of the new run */
async function rerun(run: Execution, draft: Draft, keys: Keys, isExecuted: boolean): Promise<string> {
  const { from = '', goal = run.goal, reason = '', inputs } = draft;
  const body = {
    ...(from !== '' && { from_agent_id: from }),
    ...(goal !== run.goal && { goal }),
    ...(reason.trim() !== '' && { reason: reason.trim() }),
    ...(inputs && {
      input_variables: valuesOf(run.input_variables, inputs),
      runtime_inputs: valuesOf(run.runtime_inputs, inputs),
    }),
  };
  const { execution_id } = await call(
    'post',
    '/execute_flow/{execution_id}/rerun',
    { params: { execution_id: run.execution_id }, body },
    { idempotencyKey: keys.rerun },
  );
  if (isExecuted)
    await call(
      'post',
      '/execute_flow/{execution_id}/execute',
      { params: { execution_id }, body: {} },
      { idempotencyKey: keys.execute },
    );
  return execution_id;
}

/** Prepares the run again, from any agent and with other inputs, and starts it. What was typed survives a reload. */
export function Rerun({ run, onClose }: { run: Execution; onClose: () => void }) {
  const [stored, store] = useDraft(`rerun.${run.execution_id}`);
  const draft = (stored === '' ? {} : JSON.parse(stored)) as Draft;
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [keys, setKeys] = useState(() => ({ rerun: newKey(), execute: newKey() }));
  const may = useMay();
  const navigate = useNavigate();
  const change = (changes: Draft) => {
    store(JSON.stringify({ ...draft, ...changes }));
    setKeys({ rerun: newKey(), execute: newKey() });
  };
  const { goal = run.goal, reason = '', inputs = {}, from = '' } = draft;
  const submit = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const runId = await rerun(run, draft, keys, may('post /execute_flow/{execution_id}/execute'));
      store('');
      onClose();
      await navigate({ to: '/projects/$projectId/runs/$runId', params: { projectId, runId } });
    } catch (failure) {
      setError(failure);
      if (isAnswer(failure)) setKeys(({ rerun }) => ({ rerun, execute: newKey() }));
      setBusy(false);
    }
  };
  return (
    <Window title="Rerun this run?" onClose={onClose}>
      <p className="soft">A new run with the same plan. It starts at once and uses credits.</p>
      <Problem error={error} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <label>
          From
          <select value={from} onChange={(event) => change({ from: event.target.value })}>
            <option value="">the first agent</option>
            {inOrder(run)
              .slice(1)
              .map(({ _id, title }) => (
                <option key={_id} value={_id}>
                  {title}, keeping the outputs before it
                </option>
              ))}
          </select>
        </label>
        <label>
          Goal
          <textarea
            rows={2}
            value={goal}
            maxLength={20_000}
            onChange={(event) => change({ goal: event.target.value })}
          />
        </label>
        <Inputs run={run} texts={inputs} onChange={(texts) => change({ inputs: texts })} />
        <label>
          Reason (optional)
          <input value={reason} maxLength={500} onChange={(event) => change({ reason: event.target.value })} />
        </label>
        <p className="actions">
          <button className="primary" disabled={isBusy}>
            Rerun
          </button>
        </p>
      </form>
    </Window>
  );
}

type Texts = Record<string, string>;

/** A field for each input of the run. */
function Inputs({ run, texts, onChange }: { run: Execution; texts: Texts; onChange: (texts: Texts) => void }) {
  return Object.entries({ ...run.input_variables, ...run.runtime_inputs }).map(([name, value]) => (
    <label key={name}>
      {name}
      {typeof value === 'string' ? '' : ' (JSON)'}
      <textarea
        rows={2}
        value={texts[name] ?? textOf(value)}
        onChange={(event) => onChange({ ...texts, [name]: event.target.value })}
      />
    </label>
  ));
}
