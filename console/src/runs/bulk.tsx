import type { ReactNode } from 'react';
import { call, capitalized, type Execution } from '../api.js';
import { Each } from '../each.js';
import { Reason } from '../field.js';
import { RunLink } from '../links.js';
import { type Move } from '../states.js';
import { useDraft } from '../use-draft.js';

export type BulkAction = Move | 'rerun';

interface BulkOptions {
  move: BulkAction;
  runs: readonly Execution[];
  onClose: () => void;
}

export function BulkMove({ move, runs, onClose }: BulkOptions) {
  const [reason, setReason] = useDraft(`bulk.${move}`);
  return (
    <Each
      action={capitalized(move)}
      isFinal={move === 'cancel'}
      noun="run"
      records={runs}
      keyOf={({ execution_id }) => execution_id}
      nameOf={({ execution_id, goal }) => goal || execution_id}
      act={({ execution_id }) => moveOne(execution_id, move, reason.trim())}
      onEnd={() => setReason('')}
      onClose={onClose}
    >
      {move === 'cancel' && <p>A cancelled run cannot be resumed.</p>}
      {move === 'rerun' && (
        <p>
          Creates a new run with the same inputs for each selected run. The new runs start immediately and use credits.
        </p>
      )}
      <Reason text={reason} onChange={setReason} />
    </Each>
  );
}

async function moveOne(id: string, move: BulkAction, reason: string): Promise<ReactNode> {
  const params = { execution_id: id };
  const body = reason === '' ? {} : { reason };
  if (move === 'rerun') {
    const { execution_id } = await call('post', '/execute_flow/{execution_id}/rerun', { params, body });
    await call('post', '/execute_flow/{execution_id}/execute', { params: { execution_id }, body: {} });
    return <RunLink id={execution_id}>View new run</RunLink>;
  }
  const { status } = await call('post', `/execute_flow/{execution_id}/${move}`, { params, body });
  return move === 'pause' && status === 'running' ? 'pauses before its next step' : status;
}
