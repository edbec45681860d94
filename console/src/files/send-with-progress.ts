import { send } from '../api.js';

/** Sends a form like `send`, and reports which part of it was sent, from 0 to 1. */
export function sendWithProgress(
  path: string,
  body: FormData,
  { onProgress, signal, key }: { onProgress(part: number): void; signal: AbortSignal; key: string },
): Promise<Response> {
  // `fetch` does not report the progress of an upload.
  return send(path, { method: 'POST', headers: { 'idempotency-key': key }, body }, (url, { headers }) => {
    const request = new XMLHttpRequest();
    return new Promise<Response>((resolve, reject) => {
      const abort = () => request.abort();
      request.open('POST', url);
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total);
      request.onload = () => resolve(new Response(request.responseText, { status: request.status }));
      // `fetch` throws the same error class.
      request.onerror = () => reject(new TypeError('the service cannot be reached'));
      request.onabort = () => reject(new Error('The upload was cancelled.'));
      request.onloadend = () => signal.removeEventListener('abort', abort);
      signal.addEventListener('abort', abort);
      if (signal.aborted) reject(new Error('The upload was cancelled.'));
      else request.send(body);
    });
  });
}
