import { EventSourceParserStream } from 'eventsource-parser/stream';
import { send } from './api.js';

const shortestMs = 500;
const longestMs = 8000;

interface Following<E> {
  signal: AbortSignal;
  /** Returns the last received sequence number, after which the stream continues. */
  last(): number | undefined;
  onEvent(event: E): void;
  /** Called with undefined once the stream is open. */
  onProblem(problem: unknown): void;
}

/** Follows a stream of server-sent events until it ends. After a disconnection it resumes after the last event. */
export async function follow<E>(path: string, { signal, last, onEvent, onProblem }: Following<E>): Promise<void> {
  const readStream = async (): Promise<boolean> => {
    const from = last();
    const headers: Record<string, string> = from === undefined ? {} : { 'last-event-id': String(from) };
    const { status, body } = await send(path, { headers, signal });
    if (status === 204 || !body) return true;
    onProblem(undefined);
    const frames = body.pipeThrough(new TextDecoderStream() as never).pipeThrough(new EventSourceParserStream());
    for (const reader = frames.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) return false;
      onEvent(JSON.parse(value.data) as E);
    }
  };
  for (let pauseMs = shortestMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, longestMs)) {
    const startedAt = Date.now();
    try {
      if (await readStream()) return;
    } catch (problem) {
      if (!signal.aborted) onProblem(problem);
    }
    if (Date.now() - startedAt > longestMs) pauseMs = shortestMs;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/**
 * Follows a stream while the page is visible. An open stream holds a connection, and browsers allow only six HTTP/1.1
 * connections per host for all tabs.
 * @returns a function that stops
 */
export function followWhileVisible<E>(path: string, options: Omit<Following<E>, 'signal'>): () => void {
  let stream = new AbortController();
  const update = () => {
    stream.abort();
    stream = new AbortController();
    if (!document.hidden) void follow(path, { ...options, signal: stream.signal });
  };
  update();
  document.addEventListener('visibilitychange', update);
  return () => {
    document.removeEventListener('visibilitychange', update);
    stream.abort();
  };
}
