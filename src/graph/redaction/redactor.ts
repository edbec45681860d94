import { hintsOfName, noHints, type Hints } from './hints.js';
import { findIbans, isCardNumber } from './payment.js';
import { isNationalId } from './national-id.js';
import { isPlain, redactNumber, redactText } from './redact-text.js';
import { lintSecrets, needsLint } from './secret.js';
import { placeholder, type Label, type Span } from './span.js';

type Json = unknown;

/**
 * Replaces personal data and credentials anywhere in an answer: in texts, numbers, names of map entries, and lists
 * whose items form one value. Does not change the input.
 */
export async function redactAnswer<T>(answer: T): Promise<T> {
  const suspicious = new Set<string>();
  collectSuspicious(answer, suspicious);
  const secrets = suspicious.size === 0 ? new Map<string, Span[]>() : await lintSecrets([...suspicious]);
  return createRedaction(secrets).value(answer, noHints) as T;
}

function collectSuspicious(value: Json, into: Set<string>): void {
  if (typeof value === 'string') {
    if (needsLint(value)) into.add(value);
  } else if (Array.isArray(value)) for (const each of value) collectSuspicious(each, into);
  else if (isMap(value)) {
    for (const [name, each] of Object.entries(value)) {
      collectSuspicious(name, into);
      collectSuspicious(each, into);
    }
  }
}

const valueWork = 2;
/** What a detector may need for a card number, or for a list whose items form one. */
const numberWork = 20;
const listWork = 40;
const longText = 256;

/**
 * How much work an answer needs, counted up to `max`: mainly the characters of its distinct texts that may contain a
 * match.
 */
export function workOf(answer: Json, max: number): number {
  const seen = new Set<Json>();
  let work = 0;
  const once = (each: object | string): boolean => !seen.has(each) && Boolean(seen.add(each));

  function add(value: Json): void {
    work += valueWork;
    if (typeof value === 'string') addText(value);
    else if (typeof value === 'number') work += Number.isInteger(value) && value >= 100_000 ? numberWork : 0;
    else if (Array.isArray(value)) {
      if (value.length > 1) work += listWork;
      for (let at = 0; at < value.length && work < max; at += 1) add(value[at]);
    } else if (isMap(value) && once(value)) {
      for (const name of Object.keys(value)) {
        if (work >= max) return;
        addText(name);
        add(value[name]);
      }
    }
  }

  function addText(text: string): void {
    if (once(text)) work += text.length > longText || !isPlain(text) ? text.length : valueWork;
  }

  add(answer);
  return work;
}

/** Redacts one answer. Processes equal texts with equal hints, and maps that appear several times, once. */
function createRedaction(secrets: ReadonlyMap<string, Span[]>) {
  const done = new Map<Hints, Map<string, string>>();
  const maps = new Map<object, Json>();

  function value(json: Json, hints: Hints): Json {
    if (typeof json === 'string') return text(json, hints);
    if (typeof json === 'number') return redactNumber(json, hints);
    if (Array.isArray(json)) {
      const label = labelOfPieces(json);
      return json.map((each) => (label ? placeholder(label) : value(each, hints)));
    }
    if (!isMap(json)) return json;
    const redacted = maps.get(json) ?? map(json);
    maps.set(json, redacted);
    return redacted;
  }

  function text(given: string, hints: Hints): string {
    const seen = done.get(hints) ?? new Map<string, string>();
    done.set(hints, seen);
    const redacted = seen.get(given) ?? redactText(given, hints, secrets.get(given));
    seen.set(given, redacted);
    return redacted;
  }

  function map(given: Readonly<Record<string, Json>>): Record<string, Json> {
    const names = Object.keys(given);
    const shownValue = (name: string) => value(given[name], hintsOfEntry(given, name));
    // Names rarely change, and unchanged names are distinct.
    if (names.every((name) => text(name, noHints) === name))
      return Object.fromEntries(names.map((name) => [name, shownValue(name)]));
    const entries = new Map<string, Json>();
    for (const name of names) {
      let shown = text(name, noHints);
      for (let count = 2; entries.has(shown); count += 1) shown = `${text(name, noHints)} ${count}`;
      entries.set(shown, shownValue(name));
    }
    return Object.fromEntries(entries);
  }

  return { value };
}

/** The predicate names the object of a fact. */
function hintsOfEntry(map: Readonly<Record<string, Json>>, name: string): Hints {
  return hintsOfName(name === 'object' && typeof map.predicate === 'string' ? map.predicate : name);
}

/** The result of `split(card, '-')` is still a card number. */
function labelOfPieces(list: readonly Json[]): Label | undefined {
  if (list.length < 2 || list.length > 40) return undefined;
  const short = list.every(
    (each) => (typeof each === 'string' && each.length <= 8) || (typeof each === 'number' && Number.isInteger(each)),
  );
  if (!short) return undefined;
  const joined = list.join('');
  if (joined.length < 9 || joined.length > 40) return undefined;
  if (isCardNumber(joined.replace(/[ -]/g, ''))) return 'card';
  const [iban] = findIbans(joined);
  if (iban?.start === 0 && iban.end === joined.length) return 'iban';
  const threeParts = list.length === 3 && list.every((each, at) => String(each).length === [3, 2, 4][at]);
  return threeParts && isNationalId(joined) ? 'national_id' : undefined;
}

function isMap(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null;
}
