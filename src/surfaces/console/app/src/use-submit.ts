import { useState } from 'react';
import { isAnswer, newKey } from './api.js';

/**
 * Sends what a person submits, and keeps the error if it is refused. A repeat after a lost answer is the same request; a
 * repeat after a refusal is another one.
 */
export function useSubmit<Given extends unknown[]>(
  act: (options: { idempotencyKey: string }, ...given: Given) => Promise<unknown>,
) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [idempotencyKey, setKey] = useState(newKey);
  const submit = async (...given: Given) => {
    setBusy(true);
    try {
      await act({ idempotencyKey }, ...given);
      setError(undefined);
    } catch (failure) {
      setError(failure);
      if (isAnswer(failure)) setKey(newKey());
    } finally {
      setBusy(false);
    }
  };
  return { error, isBusy, submit, forget: () => setError(undefined) };
}
