import { hintsOfName, noHints, type Hints } from './hints.js';
import { findIbans, isCardNumber } from './payment.js';
import { isNationalId } from './national-id.js';
import { isPlain, mayBePersonal, redactNumber, redactText } from './redact-text.js';
import { lintSecrets, needsLint } from './secret.js';
import { placeholder, type Label, type Span } from './span.js';

type Json = unknown;

/** The result of one scan of a response. */
interface Survey {
  /** Whether no part can change, as in most responses. */
  isClean: boolean;
  /**
   * The estimated work, counted up to a maximum: mainly the characters of the distinct texts that may contain a match.
   */
  work: number;
  /** The texts in which no detector can match, except by the name of their property. */
  plain: ReadonlySet<string>;
  /** The texts that the rules of secretlint must check. */
  suspicious: ReadonlySet<string>;
}

/**
 * Replaces personal data and credentials anywhere in a response: in texts, numbers, names of map entries, and lists
 * whose items form one value. Does not change the input. Reuses its parts that need no change.
 */
export async function redactAnswer<T>(answer: T, survey: Survey = surveyTexts(answer)): Promise<T> {
  const { isClean, plain, suspicious } = survey;
  if (isClean) return answer;
  const secrets = suspicious.size === 0 ? new Map<string, Span[]>() : await lintSecrets([...suspicious]);
  return createRedaction(plain, secrets).value(answer, noHints) as T;
}

/** Replaces only credentials, for readers who may see personal data. */
export async function hideSecrets<T>(answer: T, survey: Survey = surveyTexts(answer)): Promise<T> {
  const { isClean, plain, suspicious } = survey;
  if (isClean) return answer;
  const secrets = suspicious.size === 0 ? new Map<string, Span[]>() : await lintSecrets([...suspicious]);
  return createRedaction(plain, secrets, true).value(answer, noHints) as T;
}

const valueWork = 2;
/** The work that a detector may need for a card number, or for a list whose items form one. */
const numberWork = 20;
const listWork = 40;
const longText = 256;

/** Scans each text and each map once. Stops when `max` is reached; the sets are then incomplete. */
export function surveyTexts(answer: Json, max = Infinity): Survey {
  const seen = new Set<object>();
  const names = new Set<string>();
  const texts = new Set<string>();
  const plain = new Set<string>();
  const suspicious = new Set<string>();
  let work = 0;
  let isClean = true;

  function add(value: Json): void {
    work += valueWork;
    if (typeof value === 'string') addText(value);
    else if (typeof value === 'number') addNumber(value);
    else if (Array.isArray(value)) {
      if (value.length > 1) work += listWork;
      if (labelOfPieces(value)) isClean = false;
      for (let at = 0; at < value.length && work < max; at += 1) add(value[at]);
    } else if (isMap(value) && !seen.has(value)) {
      seen.add(value);
      for (const name of Object.keys(value)) {
        if (work >= max) return;
        addName(name);
        if ((hintsOfFact(value, name) ?? noHints) !== noHints) isClean = false;
        add(value[name]);
      }
    }
  }

  function addNumber(value: number): void {
    if (!mayBePersonal(value)) return;
    work += numberWork;
    isClean = false;
  }

  function addName(name: string): void {
    if (names.has(name)) return;
    names.add(name);
    addText(name);
    if (hintsOfName(name) !== noHints) isClean = false;
  }

  function addText(text: string): void {
    if (texts.has(text)) return;
    texts.add(text);
    const isHarmless = text.length <= longText && isPlain(text);
    work += isHarmless ? valueWork : text.length;
    if (!isHarmless) isClean = false;
    if (work >= max) return;
    if ((!isHarmless || text.includes('://')) && needsLint(text)) suspicious.add(text);
    else if (isHarmless) plain.add(text);
  }

  add(answer);
  return { work, isClean: isClean && suspicious.size === 0, plain, suspicious };
}

/**
 * Creates the redaction of one response. Processes equal texts with equal hints once, and each map once, even if it
 * appears several times.
 */
function createRedaction(plain: ReadonlySet<string>, secrets: ReadonlyMap<string, Span[]>, onlySecrets = false) {
  const done = new Map<Hints, Map<string, string>>();
  const maps = new Map<object, Json>();
  const names = new Map<string, { shown: string; hints: Hints }>();

  function value(json: Json, hints: Hints): Json {
    if (typeof json === 'string') return text(json, hints);
    if (typeof json === 'number') return onlySecrets ? json : redactNumber(json, hints);
    if (Array.isArray(json)) {
      const label = onlySecrets ? undefined : labelOfPieces(json);
      const redacted = json.map((each: Json) => (label ? placeholder(label) : value(each, hints)));
      return redacted.every((each, at) => each === json[at]) ? json : redacted;
    }
    if (!isMap(json)) return json;
    const redacted = maps.get(json) ?? map(json);
    maps.set(json, redacted);
    return redacted;
  }

  function text(original: string, hints: Hints): string {
    if (!hints.secret && plain.has(original)) return original;
    const seen = done.get(hints) ?? new Map<string, string>();
    done.set(hints, seen);
    const redacted = seen.get(original) ?? redactText(original, hints, secrets.get(original), onlySecrets);
    seen.set(original, redacted);
    return redacted;
  }

  function ofName(name: string): { shown: string; hints: Hints } {
    const known = names.get(name) ?? { shown: text(name, noHints), hints: hintsOfName(name) };
    names.set(name, known);
    return known;
  }

  function map(original: Readonly<Record<string, Json>>): Record<string, Json> {
    let isChanged = false;
    const entries = Object.keys(original).map((name) => {
      const { shown, hints } = ofName(name);
      const redacted = value(original[name], hintsOfFact(original, name) ?? hints);
      if (shown !== name || redacted !== original[name]) isChanged = true;
      return [shown, redacted] as const;
    });
    return isChanged ? distinct(entries) : original;
  }

  return { value };
}

/** Numbers the names that became equal. */
function distinct(entries: readonly (readonly [string, Json])[]): Record<string, Json> {
  const named = new Map<string, Json>();
  for (const [name, value] of entries) {
    let uniqueName = name;
    for (let count = 2; named.has(uniqueName); count += 1) uniqueName = `${name} ${count}`;
    named.set(uniqueName, value);
  }
  return Object.fromEntries(named);
}

/** Returns the hints for the object of a fact, which its predicate names. */
function hintsOfFact(map: Readonly<Record<string, Json>>, name: string): Hints | undefined {
  return name === 'object' && typeof map.predicate === 'string' ? hintsOfName(map.predicate) : undefined;
}

/** Returns the label of a list whose joined pieces form one value, such as the result of `split(card, '-')`. */
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
