import { useState } from 'react';
import { isAnswer, newKey } from './api.js';

/**
 * Sends what a person submits, and keeps the error if it is refused. Only a repeat of the same content after a lost
 * answer is the same request: what is passed as `given` is compared, what `act` reads elsewhere is not.
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
