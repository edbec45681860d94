import { useRef, useState } from 'react';
import { isResponse, newIdempotencyKey } from './api.js';

/**
 * Submits a form, once at a time, and keeps the error if the request fails. A retry after a lost response reuses the idempotency key
 * only if its arguments are equal. Values that `act` reads elsewhere are not compared.
 */
export function useSubmit<Args extends unknown[]>(
  act: (options: { idempotencyKey: string }, ...args: Args) => Promise<unknown>,
) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const isSending = useRef(false);
  const [lost, setLost] = useState<{ content: string; idempotencyKey: string }>();
  const submit = async (...args: Args) => {
    if (isSending.current) return;
    isSending.current = true;
    const content = JSON.stringify(args);
    const idempotencyKey = lost?.content === content ? lost.idempotencyKey : newIdempotencyKey();
    setBusy(true);
    try {
      await act({ idempotencyKey }, ...args);
      setError(undefined);
      setLost(undefined);
    } catch (failure) {
      setError(failure);
      setLost(isResponse(failure) ? undefined : { content, idempotencyKey });
    } finally {
      isSending.current = false;
      setBusy(false);
    }
  };
  return { error, isBusy, submit, clearError: () => setError(undefined) };
}
