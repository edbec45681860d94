import type { CallOutcome } from './exchange.js';

/** The result as both SDKs take it: the body as structured content and as text; of a refusal only the text, which fits no output schema. */
export function toolResult({ kind, body }: CallOutcome) {
  const content = [{ type: 'text' as const, text: JSON.stringify(body) }];
  return kind === 'refusal' ? { content, isError: true } : { content, structuredContent: body };
}
