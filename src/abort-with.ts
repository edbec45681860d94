import { setMaxListeners } from 'node:events';

/**
 * Returns a controller that also aborts when one of the signals does. Abort it when its work ends, unless the signals
 * belong to that work. Node.js never frees the result of `AbortSignal.any` if a library leaves its listener on it, like
 * the client of Temporal, nor what this listener refers to.
 */
export function abortWith(...signals: readonly AbortSignal[]): AbortController {
  const controller = new AbortController();
  for (const signal of signals) {
    // A signal of the process has a listener for each stream.
    setMaxListeners(0, signal);
    const abort = () => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true, signal: controller.signal });
  }
  return controller;
}
