import { isJsonObject, parseJsonOrUndefined } from '../base/json.js';
import { errorIn } from './endpoint-error.js';
import { unusableAnswer } from './endpoint-failure.js';

/** The end of a stream, as endpoints announce it. */
export const done = Symbol('done');

/** A part of an answer: a chunk of a stream, a whole JSON body, or the announced end. */
export interface AnswerPart {
  json: unknown;
  isWhole: boolean;
}

/**
 * Reads an answer by what it contains, because endpoints send streams with the content type of JSON and JSON with that of
 * a stream: a JSON body, server-sent events, or one JSON text per line.
 * @throws OutboundError `model_answer_unusable` for JSON that is broken
 */
export async function* readAnswer(response: Response): AsyncGenerator<AnswerPart | typeof done> {
  const lines = linesOf(response);
  let data: string[] = [];
  let name = '';
  let whole: string[] | undefined;
  let isFirst = true;
  for await (const line of lines) {
    if (isFirst && line.trim() === '') continue;
    if (isFirst) {
      isFirst = false;
      if (/^\uFEFF?\s*[{[]/.test(line)) whole = [];
    }
    if (whole) whole.push(line);
    else if (line === '') {
      yield* name === 'error' ? errorOf(data) : eventOf(data);
      data = [];
      name = '';
    } else if (line.startsWith('event:')) name = line.slice(6).trim();
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
    // Some gateways add the error of another server to a stream as plain JSON.
    else if (/^\s*\{/.test(line)) yield* eventOf([line]);
  }
  if (whole) yield* wholeOf(whole);
  else yield* name === 'error' ? errorOf(data) : eventOf(data);
}

/** An event with the name `error`, whatever form its data has. */
function* errorOf(data: readonly string[]): Generator<AnswerPart> {
  const text = data.join('\n').trim();
  const json = parseJsonOrUndefined(text);
  if (isJsonObject(json) && errorIn(json)) yield { json, isWhole: false };
  else yield { json: { error: json ?? (text || 'an error without a text') }, isWhole: false };
}

function* wholeOf(lines: readonly string[]): Generator<AnswerPart | typeof done> {
  const json = parseJsonOrUndefined(lines.join('\n').replace(/^\uFEFF/, ''));
  if (json !== undefined) yield { json, isWhole: true };
  else for (const line of lines) yield* eventOf([line.replace(/^data:\s*/, '')]);
}

/** One event. Without blank lines between events, each of its lines is a chunk. */
function* eventOf(data: readonly string[]): Generator<AnswerPart | typeof done> {
  const text = data.join('\n').trim();
  if (text === '') return;
  if (/^"?\[DONE\]/i.test(text)) {
    yield done;
    return;
  }
  const json = parseJsonOrUndefined(text);
  if (json !== undefined) yield { json, isWhole: false };
  else if (data.length > 1) for (const line of data) yield* eventOf([line]);
  // Other words keep the connection open.
  else if (/^[{["]/.test(text)) throw unusableAnswer();
}

async function* linesOf({ body }: Response): AsyncGenerator<string> {
  if (!body) return;
  const decoder = new TextDecoder();
  let held: string[] = [];
  for await (const bytes of body as unknown as AsyncIterable<Uint8Array>) {
    const text = decoder.decode(bytes, { stream: true });
    held.push(text);
    // A long line arrives in many pieces, and is split only once.
    if (!/[\r\n]/.test(text)) continue;
    const lines = held.join('').split(/\r\n|\n|\r(?!$)/);
    held = [lines.pop() ?? ''];
    yield* lines;
  }
  held.push(decoder.decode());
  yield* held.join('').split(/\r\n|\n|\r/);
}
