import { useRef, useState, type ReactNode } from 'react';
import { call, capitalized, type Execution } from '../api.js';
import { Reason } from '../field.js';
import { RunLink } from '../links.js';
import { ErrorText, Window } from '../parts.js';
import { useDraft } from '../use-draft.js';
import { quantity } from '../quantity.js';
import { type Move } from '../states.js';

export type BulkAction = Move | 'rerun';
const atOnce = 4;

type Result = { isDone: boolean; text: ReactNode };

/** Asks the person to confirm, then changes the state of several runs and shows the result of each. */
export function BulkMove({
  move,
  runs: chosen,
  onClose,
}: {
  move: BulkAction;
  runs: readonly Execution[];
  onClose: () => void;
}) {
  // A run that no longer matches the filter leaves the list, but not this dialog.
  const [runs] = useState(chosen);
  const [reason, setReason] = useDraft(`bulk.${move}`);
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  const [isSent, setSent] = useState(false);
  const stopped = useRef(false);
  const start = async () => {
    setSent(true);
    const waiting = [...runs];
    const work = async () => {
      for (let run = waiting.shift(); run && !stopped.current; run = waiting.shift()) {
        const { execution_id: id } = run;
        const result = await moveOne(id, move, reason);
        setResults((known) => new Map(known).set(id, result));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    setReason('');
  };
  const close = () => {
    stopped.current = true;
    onClose();
  };
  const count = quantity(runs.length, 'run');
  const done = [...results.values()].filter(({ isDone }) => isDone).length;
  return (
    <Window title={`${capitalized(move)} ${count}?`} onClose={close}>
      {isSent ? (
        <p role="status">
          {results.size} of {runs.length} processed, {done} succeeded.
        </p>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void start();
          }}
        >
          {move === 'cancel' && <p>A cancelled run cannot be resumed.</p>}
          {move === 'rerun' && (
            <p>
              Creates a new run with the same inputs for each selected run. The new runs start immediately and use
              credits.
            </p>
          )}
          <Reason text={reason} onChange={setReason} />
          <p className="actions">
            <button className={move === 'cancel' ? 'danger' : 'primary'}>
              {capitalized(move)} {count}
            </button>
          </p>
        </form>
      )}
      <ul className="results" aria-label="Runs">
        {runs.slice(0, 200).map(({ execution_id: id, goal }) => (
          <li key={id}>
            <bdi>{goal === '' ? id : goal}</bdi>{' '}
            <span className={results.get(id)?.isDone === false ? 'bad' : 'soft'}>{results.get(id)?.text}</span>
          </li>
        ))}
      </ul>
    </Window>
  );
}

async function moveOne(id: string, move: BulkAction, reason: string): Promise<Result> {
  const params = { execution_id: id };
  const body = reason.trim() === '' ? {} : { reason: reason.trim() };
  try {
    if (move === 'rerun') {
      const again = await call('post', '/execute_flow/{execution_id}/rerun', { params, body });
      const rerunId = { execution_id: again.execution_id };
      await call('post', '/execute_flow/{execution_id}/execute', { params: rerunId, body: {} });
      return { isDone: true, text: <RunLink id={again.execution_id}>View new run</RunLink> };
    }
    const { status } = await call('post', `/execute_flow/{execution_id}/${move}`, { params, body });
    return { isDone: true, text: move === 'pause' && status === 'running' ? 'pauses before its next step' : status };
  } catch (error) {
    return { isDone: false, text: <ErrorText error={error} /> };
  }
}
