import { useState } from 'react';
import { isAnswer, newKey } from './api.js';

/**
 * Submits a form, and keeps the error if the request fails. A retry after a lost response reuses the idempotency key
 * only if its arguments are equal. Values that `act` reads elsewhere are not compared.
 */
export function useSubmit<Given extends unknown[]>(
  act: (options: { idempotencyKey: string }, ...given: Given) => Promise<unknown>,
) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [lost, setLost] = useState<{ content: string; idempotencyKey: string }>();
  const submit = async (...given: Given) => {
    const content = JSON.stringify(given);
    const idempotencyKey = lost?.content === content ? lost.idempotencyKey : newKey();
    setBusy(true);
    try {
      await act({ idempotencyKey }, ...given);
      setError(undefined);
      setLost(undefined);
    } catch (failure) {
      setError(failure);
      setLost(isAnswer(failure) ? undefined : { content, idempotencyKey });
    } finally {
      setBusy(false);
    }
  };
  return { error, isBusy, submit, forget: () => setError(undefined) };
}
