import type { Logger } from '../log.js';
import type { Embedder } from './embedder.js';

const timeoutMs = 10_000;

/** Requests one vector from the configured endpoint and logs a failure. The process works without the endpoint. */
export async function checkEmbedder({
  embedder,
  log,
  stopping,
}: {
  embedder: Embedder;
  log: Logger;
  stopping: AbortController;
}): Promise<void> {
  if (embedder.model === undefined) return;
  try {
    await embedder.embed(['test'], { signal: stopping.signal, timeoutMs });
    log.info(embedder.model, 'embeddings are ready');
  } catch (error) {
    if (stopping.signal.aborted) return;
    const { message } = error as Error;
    log.error({ ...embedder.model, problem: message }, 'embeddings do not work: searches use text alone');
  }
}
