import type { CallOutcome } from './exchange.js';

/**
 * Returns the result in the form that both SDKs accept: the body as structured content and as text. A refusal is text
 * only, because it does not match the output schema.
 */
export function toolResult({ kind, body }: CallOutcome) {
  const content = [{ type: 'text' as const, text: JSON.stringify(body) }];
  return kind === 'refusal' ? { content, isError: true } : { content, structuredContent: body };
}
