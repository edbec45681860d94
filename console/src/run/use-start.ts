import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api.js';
import { useMay } from '../session.js';

/**
 * Prepares a run, executes it if the person may, and opens it. If only the execution fails, a retry with the same
 * values executes the prepared run.
 */
export function useStart() {
  const [prepared, setPrepared] = useState<{ content: string; execution_id: string }>();
  const may = useMay();
  const navigate = useNavigate();
  const start = async (values: object, idempotencyKey: string, prepare: () => Promise<{ execution_id: string }>) => {
    const content = JSON.stringify(values);
    const { execution_id } = prepared?.content === content ? prepared : await prepare();
    setPrepared({ content, execution_id });
    const request = { params: { execution_id }, body: {} };
    if (may('post /execute_flow/{execution_id}/execute'))
      await call('post', '/execute_flow/{execution_id}/execute', request, {
        idempotencyKey: `${idempotencyKey}-execute`,
      });
    return execution_id;
  };
  const open = (runId: string) => void navigate({ to: '/runs/$runId', params: { runId } });
  return { start, open };
}
