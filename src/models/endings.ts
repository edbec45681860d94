/**
 * How an answer ended. `unknown` is never a success: endpoints report broken answers with reasons of their own, such as
 * `error` or `insufficient_system_resource`.
 */
export type Ending = 'none' | 'good' | 'cut' | 'refused' | 'unknown';

/** Known reasons of complete answers. OpenAI, Anthropic, Cohere, Hugging Face and local servers use different words. */
const good: ReadonlySet<string> = new Set([
  ...['stop', 'stop_sequence', 'stop_token', 'stop_word', 'stop_words', 'end', 'end_turn', 'end_of_turn', 'eos'],
  ...[
    'eos_token',
    'eos_found',
    'end_of_sequence',
    'end_of_text',
    'complete',
    'completed',
    'finish',
    'finished',
    'done',
  ],
  ...['tool_calls', 'tool_call', 'tool_use', 'tools', 'function_call', 'function_calls'],
]);

/** Reasons of answers that reached a limit of length. */
const cut: ReadonlySet<string> = new Set([
  ...['length', 'max_tokens', 'max_token', 'max_length', 'max_output_tokens', 'max_completion_tokens', 'model_length'],
  ...['token_limit', 'max_new_tokens', 'context_length', 'model_context_window_exceeded'],
]);

/** Not refusals, although their names contain the word of one. */
const notRefused = /malformed|function_call_filter|unexpected_tool_call/;

/** A part of the reasons of filters. Gemini also sends them in the form `content_filter: PROHIBITED_CONTENT`. */
const refused =
  /content_?filter|filtered|safety|prohibited|block|recitation|spii|refus|sensitive|guardrail|moderat|policy|toxic|flagged|violat|inappropriate|censor|copyright|unsafe/;

/** Judges the `finish_reason` of an answer. Ignores case. */
export function endingOf(reason: string): Ending {
  const name = reason
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
    .replace(/^finish_?reason[._]/, '');
  if (name === '' || name === 'null' || name === 'none') return 'none';
  if (good.has(name)) return 'good';
  if (cut.has(name)) return 'cut';
  return refused.test(name) && !notRefused.test(name) ? 'refused' : 'unknown';
}
