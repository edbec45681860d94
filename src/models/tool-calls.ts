import { isJsonObject, type JsonObject } from '../base/json.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { mergeFields, unknownFields, type Echo } from './echo.js';
import type { ChatToolCall } from './port.js';

/** Exceeds the number of tool calls that one turn runs. */
const maxToolCalls = 256;
const knownFields: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function', 'custom']);
const knownFunctionFields: ReadonlySet<string> = new Set(['name', 'arguments', 'parameters']);

/** A tool call, or a piece of one, as an endpoint sends it. */
interface CallPiece {
  index: number | undefined;
  id: string;
  name: string;
  text: string;
  echo: Echo;
}

interface Call {
  index: number | undefined;
  id: string;
  name: string;
  text: string;
  echo: Echo;
  scan: JsonScan;
}

/**
 * Assembles tool calls. The pieces of a call share an index, and the first piece has the id and the name. Many endpoints
 * differ: without ids or indexes, with a new id in each piece, with one index for several calls, with whole calls that
 * they repeat. A name after complete arguments, or another id with a name, begins a new call.
 */
export function collectToolCalls() {
  const calls: Call[] = [];
  let size = 0;

  function begin(piece: CallPiece): void {
    if (calls.length === maxToolCalls)
      throw new OutboundError('too_large', `the model's answer has more than ${maxToolCalls} tool calls`);
    calls.push({ ...piece, scan: createScan(piece.text) });
  }

  function extend(call: Call, { id, name, text, echo }: CallPiece): void {
    call.id ||= id;
    call.name ||= name;
    call.echo = mergeFields(call.echo, echo);
    if (text === '' || (call.scan.isComplete() && isRepeated(call.text, text))) return;
    // Some gateways send an empty object before the pieces of the arguments.
    if (call.text.trim() === '{}') {
      call.text = text;
      call.scan = createScan(text);
      return;
    }
    call.text += text;
    call.scan.add(text);
  }

  return {
    /** @param isWhole the list is the complete list of an answer, so each entry is a call */
    add(list: unknown, isWhole: boolean): void {
      const before = calls.length;
      for (const entry of Array.isArray(list) ? (list as unknown[]) : []) {
        const piece = readPiece(entry);
        if (!piece) continue;
        size += piece.name.length + piece.text.length;
        const call = isWhole ? calls.find((known) => isRepeat(known, piece)) : targetOf(calls, piece);
        // Two entries of one list that both have a name are two calls.
        const isSecond = call && piece.name !== '' && calls.indexOf(call) >= before && !isRepeat(call, piece);
        if (call && !isSecond) extend(call, piece);
        else begin(piece);
      }
    },
    size: () => size,
    /** Whether the arguments of each call are complete JSON. */
    areComplete: () => calls.every(({ text, scan }) => text.trim() === '' || scan.isComplete()),
    /** Replaces a missing or repeated id, so that each id is unique within the response. */
    all(): ChatToolCall[] {
      const taken = new Set<string>();
      const named = calls.filter(({ name, text }) => name !== '' || text.trim() !== '');
      return named.map(({ id, name, text, echo }, at) => {
        const own = id === '' || taken.has(id) ? `call_${at + 1}` : id;
        taken.add(own);
        return { id: own, name, arguments: text, ...(Object.keys(echo).length > 0 && { echo }) };
      });
    },
  };
}

/** The call that a piece continues; undefined if it begins a new one. */
function targetOf(calls: readonly Call[], piece: CallPiece): Call | undefined {
  const { index, id, name, text } = piece;
  const sameIndex = index === undefined ? undefined : calls.findLast((call) => call.index === index);
  const sameId = id === '' ? undefined : calls.findLast((call) => call.id === id);
  const isUnknownIndex = index !== undefined && !sameIndex;
  if (name === '') {
    if (sameIndex) return sameIndex;
    if (sameId) return sameId;
    const last = calls.at(-1);
    // A piece without a name continues the last call, unless that call is complete or the piece announces another one.
    const announces = isUnknownIndex && (id !== '' || last?.scan.isComplete() === true);
    return announces || (id !== '' && text === '') ? undefined : last;
  }
  const known = sameIndex ?? (index === undefined ? (sameId ?? calls.at(-1)) : undefined);
  if (!known || known.name === '') return known;
  const isOtherId = id !== '' && known.id !== '' && known.id !== id;
  if (known.scan.isComplete()) return !isOtherId && isRepeat(known, piece) ? known : undefined;
  // The arguments of the known call have begun, so a piece with the same name continues them.
  if (known.text.trim() !== '')
    return known.name === name && (sameIndex !== undefined || !isOtherId) ? known : undefined;
  return isOtherId || known.name !== name ? undefined : known;
}

/** Whether a piece is the known call once more, and not a second call: it has the same id and says nothing else. */
function isRepeat(known: Call, { id, name, text }: CallPiece): boolean {
  return id !== '' && known.id === id && known.name === name && (text.trim() === '' || isRepeated(known.text, text));
}

function isRepeated(before: string, text: string): boolean {
  return text.trim() === '' || before.trim() === text.trim();
}

function readPiece(entry: unknown): CallPiece | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { index, id } = entry;
  const called = isJsonObject(entry.function) ? entry.function : {};
  const written = called.arguments ?? called.parameters;
  const inner = unknownFields(called, knownFunctionFields);
  return {
    index: typeof index === 'number' ? index : undefined,
    id: typeof id === 'string' ? id : typeof id === 'number' ? String(id) : '',
    name: typeof called.name === 'string' ? called.name : '',
    text: typeof written === 'string' ? written : isObject(written) ? JSON.stringify(written) : '',
    echo: { ...unknownFields(entry, knownFields), ...(Object.keys(inner).length > 0 && { function: inner }) },
  };
}

function isObject(value: unknown): value is JsonObject | unknown[] {
  return typeof value === 'object' && value !== null;
}

type JsonScan = ReturnType<typeof createScan>;

/** Follows the brackets of a JSON object that arrives in pieces. Reads each character once. */
function createScan(start: string) {
  let depth = 0;
  let hasBegun = false;
  let inString = false;
  let isEscaped = false;
  const add = (text: string) => {
    for (const character of text) {
      if (isEscaped) isEscaped = false;
      else if (inString) {
        if (character === '\\') isEscaped = true;
        else if (character === '"') inString = false;
      } else if (character === '"') {
        inString = true;
        hasBegun = true;
      } else if (character === '{' || character === '[') {
        depth += 1;
        hasBegun = true;
      } else if (character === '}' || character === ']') depth -= 1;
    }
  };
  add(start);
  return { add, isComplete: () => hasBegun && depth <= 0 && !inString };
}
