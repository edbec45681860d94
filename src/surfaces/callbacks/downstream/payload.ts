import type { CallbackPayload } from '../../../../workflows/connector-events/messages.js';
import { formOf } from '../../../base/form.js';
import { isJsonObject, parseJson } from '../../../base/json.js';
import { sha256Hex } from '../../../base/hash.js';
import type { RawBody } from '../callback-body.js';
import { checkCallbackValues } from '../parse-body.js';
import { fieldAt, isOneOfAKind } from './identity.js';

const maxDepth = 32;
/** Longer JSON is stored instead of being passed in a signal. */
const maxSignalLength = 128 * 1024;

const eventNames = ['event', 'event_type', 'eventType', 'type'];
/** Without `webhook_id`: some senders use it for the subscription, which is the same in every event. */
const eventIdNames = ['event_id', 'eventId', 'delivery_id', 'deliveryId', 'message_id', 'messageId'];
const accountIdNames = ['account_id', 'accountId', 'account'];

interface Received extends RawBody {
  /** Lists of fields whose values together may identify the event. */
  idFields: readonly (readonly string[])[];
}

interface ReadPayload {
  /** SHA-256 of the body. */
  digest: string;
  /** Whether the body contains an id of the event or a time, so that no later event has the same body. */
  isOneOfAKind: boolean;
  /** The values of each list of `idFields`; null if the body lacks one of them. */
  ids: (string[] | null)[];
  payload: CallbackPayload;
  /** The JSON of the payload's value if it is too large for a signal. The payload is then empty. */
  stored: Uint8Array | null;
  /** Metadata from the payload's top level. */
  event: string | null;
  event_id: string | null;
  account_id: string | null;
}

/** Parses a provider's body by its content, whatever its content type. Refuses no format. */
export function readPayload({ contentType, body, idFields }: Received): ReadPayload {
  const payload = payloadOf(contentType, body);
  const json = JSON.stringify(payload.value);
  const isLarge = json.length > maxSignalLength;
  const event_id = fieldOf(payload, eventIdNames);
  return {
    digest: sha256Hex(body),
    isOneOfAKind: event_id !== null || (payload.encoding !== 'base64' && isOneOfAKind(json)),
    ids: idFields.map((fields) => valuesOf(payload, fields)),
    payload: isLarge ? { ...payload, value: null } : payload,
    stored: isLarge ? Buffer.from(json) : null,
    event: fieldOf(payload, eventNames),
    event_id,
    account_id: fieldOf(payload, accountIdNames),
  };
}

function payloadOf(contentType: string | undefined, body: Uint8Array): CallbackPayload {
  const text = utf8(body);
  if (text === undefined) return { encoding: 'base64', value: Buffer.from(body).toString('base64') };
  const json = parse(text, body);
  if (json !== undefined && isStorable(json, 0)) return { encoding: 'json', value: json };
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType ?? '') && isShort(text)) {
    const form = formOf(text);
    if (isStorable(form, 0)) return { encoding: 'form', value: form };
  }
  return { encoding: 'text', value: text };
}

/** Returns the value of the first of these names whose top-level value is a text or a number. */
function fieldOf({ encoding, value }: CallbackPayload, names: readonly string[]): string | null {
  if ((encoding !== 'json' && encoding !== 'form') || !isJsonObject(value)) return null;
  for (const name of names) {
    const found = Object.hasOwn(value, name) ? plainValue(value[name]) : undefined;
    if (found !== undefined) return found;
  }
  return null;
}

/** Returns the values of these fields, or null if one is missing or neither a text nor a number. */
function valuesOf({ encoding, value }: CallbackPayload, fields: readonly string[]): string[] | null {
  if (encoding !== 'json' && encoding !== 'form') return null;
  const values = fields.flatMap((field) => plainValue(fieldAt(value, field)) ?? []);
  return values.length === fields.length ? values : null;
}

function plainValue(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' && value.length <= 200 ? value : undefined;
}

/** Returns whether a record can store the value. Otherwise the payload remains text. */
function isStorable(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= maxDepth) return false;
  return Object.entries(value).every(
    ([name, member]) => !name.includes('\0') && name !== '__proto__' && isStorable(member, depth + 1),
  );
}

const maxFormLength = 2 * 1024 * 1024;
const maxFormFields = 10_000;

/** Returns whether a form is short enough to parse. Longer forms remain text. */
function isShort(form: string): boolean {
  if (form.length > maxFormLength) return false;
  let fields = 1;
  for (let at = form.indexOf('&'); at >= 0 && fields <= maxFormFields; at = form.indexOf('&', at + 1)) fields += 1;
  return fields <= maxFormFields;
}

function utf8(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** Parses JSON. Returns undefined for other text, and for JSON with too many values to process quickly. */
function parse(text: string, body: Uint8Array): unknown {
  try {
    checkCallbackValues(body);
    return parseJson(text);
  } catch {
    return undefined;
  }
}
