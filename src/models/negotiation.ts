import { isJsonObject, type JsonObject } from '../base/json.js';
import type { EndpointError } from './endpoint-error.js';
import { outlookOf } from './permanent-errors.js';
import { schemaNotes, type Dialect, type Extra } from './openai-request.js';

/** How errors name something that a request contains. A name matches as a whole word, in any case. */
interface Refusable {
  extra: Extra;
  isSent: (body: JsonObject) => boolean;
  names: (body: JsonObject) => readonly string[];
  /** Requires this in addition, for names that are everyday words. */
  says?: RegExp;
}

const field = (extra: Extra, ...names: string[]): Refusable => ({
  extra,
  isSent: (body) => extra in body,
  names: () => [extra, ...names],
});

/** How errors name the schema of the answer. Gemini says MIME type, and local servers say which mode or grammar they lack. */
const formatNames = [
  ...['response_format', 'responseFormat', 'response format', 'response_format_type', 'json_schema', 'json_object'],
  ...['responseSchema', 'response_schema', 'response_mime_type', 'responseMimeType', 'response mime type'],
  ...['structured output', 'structured outputs', 'structured_outputs', 'json mode', 'guided_json', 'grammar'],
];

/** In the order in which they are given up if an error does not say which of them it blames. */
const refusable: readonly Refusable[] = [
  field('stream_options', 'include_usage', 'streamOptions', 'stream options'),
  field('temperature'),
  field('max_tokens', 'maxTokens', 'max tokens', 'maxOutputTokens', 'max_output_tokens', 'max_new_tokens'),
  field('max_completion_tokens', 'maxCompletionTokens', 'max_tokens', 'max_output_tokens'),
  field('tool_choice', 'toolChoice', 'tool choice', 'function_calling_config'),
  {
    extra: 'strict',
    isSent: isStrict,
    names: () => ['strict', 'response_format', 'json_schema', 'responseSchema', 'response_schema'],
    says: /strict|schema/i,
  },
  { extra: 'response_format', isSent: (body) => 'response_format' in body, names: () => formatNames },
  { extra: 'echo', isSent: (body) => echoNames(body).length > 0, names: echoNames },
  {
    extra: 'schema notes',
    isSent: hasTools,
    names: () => [...schemaNotes],
    says: /schema|parameters|\btools?\b|function|unknown name|properties/i,
  },
  {
    extra: 'null content',
    isSent: (body) => messagesOf(body).some(({ content }) => content === null),
    names: () => ['content'],
    says: /null|none|string|empty|required|missing|must (be|have)/i,
  },
  {
    extra: 'system role',
    isSent: (body) => messagesOf(body).some(({ role }) => role === 'system'),
    names: () => ['system', 'role'],
    says: /system[^]{0,60}(role|message)|role[^]{0,80}(system|user|assistant)|roles must/i,
  },
  { ...field('stream', 'streaming', 'streamed', 'streams'), says: /stream/i },
];

/** Statuses that say nothing about the fields of a request. */
const otherMatters: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 413, 425, 429]);
const saysRefused =
  /unsupport|not (currently )?support|support|unknown|unrecogni|unexpected|extra|not (permitted|allowed)|deprecated|invalid|drop_params|cannot find/i;
const saysOnlyInvalid =
  /invalid (request|argument|parameter|params?|value|input)|bad request|validation|unsupported|not support|malformed|参数/i;
const limits = ['max_tokens', 'max_completion_tokens'] as const;
const unneeded: readonly Extra[] = ['temperature', ...limits, 'stream_options', 'response_format'];
/** Errors that want a field of the conversation back, which is the opposite of a refusal. */
const wantsBack = /must be (passed|sent|provided|included) back|is missing a|missing in assistant|passed back/i;
const needsLimit =
  /max_?(completion_|output_)?tokens\b[^]{0,80}(required|missing|must be (set|specified|provided))|(required|missing)[^]{0,80}max_?(completion_|output_)?tokens\b/i;

/**
 * Returns how to ask again after a refusal: without what the error blames, or with the limit that it needs. Undefined if
 * the refusal has another reason.
 */
export function nextDialect(error: EndpointError, body: JsonObject, dialect: Dialect): Dialect | undefined {
  const { status, messages, fields } = error;
  const text = messages.join('\n');
  if (status !== undefined && (otherMatters.has(status) || (status >= 500 && !saysRefused.test(text))))
    return undefined;
  const isLimited = 'max_tokens' in body || 'max_completion_tokens' in body;
  if (!isLimited && dialect.needs === undefined && needsLimit.test([...fields, text].join('\n')))
    return { ...dialect, needs: 'limit' };
  const candidates = refusable.filter(({ extra, isSent }) => isSent(body) && !dialect.refuses.has(extra));
  const named = blamedIn([fields, quotedNames(text), messages], [...fields, text].join('\n'), body, candidates);
  const blamed = named.length > 0 ? named : blamedWithoutName(error, body);
  if (blamed.length === 0) return undefined;
  // A limit that the endpoint needs but finds too large becomes smaller instead.
  if (dialect.needs === 'limit' && blamed.some((extra) => extra.startsWith('max_')))
    return { ...dialect, needs: 'small limit' };
  return { ...dialect, refuses: new Set([...dialect.refuses, ...blamed]) };
}

/** What the most precise of the sources blames: fields of the error, then quoted words, then all words. */
function blamedIn(
  sources: readonly (readonly string[])[],
  text: string,
  body: JsonObject,
  candidates: readonly Refusable[],
): Extra[] {
  const meant = candidates.filter(
    ({ extra, says }) => !(extra === 'echo' && wantsBack.test(text)) && (!says || says.test(text)),
  );
  for (const source of sources) {
    const found = meant.filter(({ names }) => source.some((words) => isNamed(words, names(body))));
    const extras = found.map(({ extra }) => extra);
    // The endpoint may accept the same schema without its guarantee.
    if (extras.includes('strict')) return extras.filter((extra) => extra !== 'response_format');
    if (extras.length > 0) return extras;
  }
  return [];
}

/** Some endpoints say only that the request is invalid. All that the model does not need to answer is then given up at once. */
function blamedWithoutName({ status, messages }: EndpointError, body: JsonObject): Extra[] {
  const text = messages.join('\n');
  if ((status !== 400 && status !== 422) || !saysOnlyInvalid.test(text)) return [];
  if (outlookOf(text.toLowerCase()) === 'permanent') return [];
  const sent = unneeded.filter((extra) => extra in body);
  return sent.some((extra) => extra.startsWith('max_')) ? [...new Set([...sent, ...limits])] : sent;
}

function isNamed(words: string, names: readonly string[]): boolean {
  return names.some((name) => {
    const at = new RegExp(`(?<![A-Za-z_])${name.replace(/[$]/g, '\\$&')}(?![A-Za-z_])`, 'i');
    return at.test(words);
  });
}

function quotedNames(text: string): string[] {
  return [...text.matchAll(/['"`[(]([\w.[\]$-]{2,80}?)['"`\])]/g)].map(([, name = '']) => name);
}

function messagesOf(body: JsonObject): JsonObject[] {
  return (Array.isArray(body.messages) ? (body.messages as unknown[]) : []).filter(isJsonObject);
}

const plainFields: ReadonlySet<string> = new Set([
  'role',
  'content',
  'tool_calls',
  'tool_call_id',
  'id',
  'type',
  'function',
]);

/** The names of the fields that the conversation contains for the endpoint's own sake. */
function echoNames(body: JsonObject): string[] {
  const messages = messagesOf(body).filter(({ role }) => role === 'assistant');
  const calls = messages.flatMap(({ tool_calls }) => (Array.isArray(tool_calls) ? (tool_calls as unknown[]) : []));
  const names = [...messages, ...calls.filter(isJsonObject)].flatMap((each) => Object.keys(each));
  const hasParts = messages.some(({ content }) => Array.isArray(content));
  return [...new Set(names.filter((name) => !plainFields.has(name))), ...(hasParts ? ['content'] : [])];
}

function isStrict({ response_format: format }: JsonObject): boolean {
  return isJsonObject(format) && isJsonObject(format.json_schema) && format.json_schema.strict === true;
}

function hasTools(body: JsonObject): boolean {
  return Array.isArray(body.tools) && body.tools.length > 0;
}
