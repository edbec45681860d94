import type { EventIdentity } from '../../../domain/connectors/signal-connector.js';
import { sha256Hex } from '../../../base/hash.js';

/** A date with a time, or a Unix time in seconds, milliseconds or microseconds. Forms encode colons and spaces. */
const moments = [
  /\b20\d\d-?\d\d-?\d\d(?:T|[ +])\d\d(?::|%3A)?\d\d/i,
  /\b\d{1,2}[ +](?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ +]20\d\d[ +]\d\d(?::|%3A)\d\d/i,
  /(?<![\d.])1[3-9]\d{8}(?:\d{3}|\d{6})?(?!\d)/,
];

/** Returns whether a text contains a time. Without one, the same text may be a later event. */
export function isOneOfAKind(text: string): boolean {
  return moments.some((moment) => moment.test(text));
}

/** Returns the value at a path such as `data.object.id`. A name may itself contain dots. */
export function fieldAt(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const members = value as Record<string, unknown>;
  if (Object.hasOwn(members, path)) return members[path];
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0 || !Object.hasOwn(members, name)) return undefined;
  return fieldAt(members[name], rest.join('.'));
}

/** Senders retry for up to a day, and the last attempt may arrive late. */
const retriesMs = 25 * 3600 * 1000;
/** An identical body without an id or a time may be a new event after this time. */
const repeatsMs = 60_000;

interface EventBody {
  /** What receives the event. Another trigger of the connector may receive the same body. */
  scope: string;
  digest: string;
  isOneOfAKind: boolean;
}

/** The identity of an event by its body, or by its values of the fields that its trigger names. */
export function identityOf(
  { scope, digest, isOneOfAKind }: EventBody,
  id?: { fields: readonly string[]; values: readonly string[] },
): EventIdentity {
  if (id) return { key: `${scope}/id/${sha256Hex(JSON.stringify([id.fields, id.values]))}`, keptForMs: retriesMs };
  return { key: `${scope}/body/${digest}`, keptForMs: isOneOfAKind ? retriesMs : repeatsMs };
}
