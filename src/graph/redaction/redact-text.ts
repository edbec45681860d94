import { noHints, type Hints } from './hints.js';
import { findMails } from './mail.js';
import { findNationalIds } from './national-id.js';
import { findCards, findIbans, isCardNumber } from './payment.js';
import { findPhones } from './phone.js';
import { findSecrets } from './secret.js';
import { placeholder, replaceSpans, uuid, type Span } from './span.js';

/**
 * Matches numbers that are not personal. They are masked before the number detectors run, so that no match overlaps
 * them.
 */
const harmless = [
  uuid,
  /(?<![\p{L}\p{N}])(?:19|20)\d{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?(?![\p{L}\p{N}])/gu,
  /(?<![\p{L}\p{N}])(?:0?[1-9]|[12]\d|3[01])([./-])(?:0?[1-9]|1[0-2])\1(?:19|20)\d{2}(?: \d{1,2}:\d{2}(?::\d{2})?)?(?![\p{L}\p{N}])/gu,
  /(?<![\p{L}\p{N}])(?:0?[1-9]|1[0-2])\/(?:0?[1-9]|[12]\d|3[01])\/(?:19|20)\d{2}(?![\p{L}\p{N}])/gu,
  /(?<![\p{L}\p{N}:])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?![\p{L}\p{N}:])/gu,
  /(?<![\p{L}\p{N}.])(?:\d{1,3}\.){3}\d{1,3}(?![\p{L}\p{N}.])/gu,
];
/** Invisible characters that split a value for a program but not for a reader. */
const invisible = /[\u00AD\u200B-\u200F\u2060-\u2064\uFEFF]/g;
const mayMatch = /\d{2}|@|%40|\(at\)|\[at\]|＠|[\w\-+/.]{16}|secret|passw|pwd|key/i;

const uuidLength = 36;

/** Returns whether no detector can match in a text, except by the name of its property. */
export function isPlain(text: string): boolean {
  return mayMatch.test(text)
    ? text.length === uuidLength && text.replace(uuid, '') === ''
    : /^[\x20-\x7E]*$/.test(text);
}

/**
 * Replaces personal data and credentials in a text.
 * @param hints the meaning that the name of the property suggests
 * @param known spans that were already found in the same text
 * @param onlySecrets keeps personal data
 */
export function redactText(
  text: string,
  hints: Hints = noHints,
  known: readonly Span[] = [],
  onlySecrets = false,
): string {
  const spansOf = onlySecrets ? secretSpansOf : allSpansOf;
  if (known.length === 0 && !hints.secret && isPlain(text)) return text;
  const normal = text.normalize('NFKC').replace(invisible, '');
  if (normal === text) return replaceSpans(text, spansOf(text, hints, known));
  // If a match appears only in the normalized text, return the normalized text. Without a match, return the original
  // text.
  const spans = spansOf(normal, hints, []);
  if (spans.length > 0)
    return replaceSpans(replaceSpansIn(text, known, normal), spansOf(replaceSpansIn(text, known, normal), hints, []));
  return known.length > 0 ? replaceSpans(text, known) : text;
}

function replaceSpansIn(text: string, known: readonly Span[], normal: string): string {
  return known.length === 0 ? normal : replaceSpans(text, known).normalize('NFKC').replace(invisible, '');
}

function secretSpansOf(text: string, hints: Hints, known: readonly Span[]): Span[] {
  return [...known, ...findSecrets(text, hints)];
}

function allSpansOf(text: string, hints: Hints, known: readonly Span[]): Span[] {
  const spans = [...secretSpansOf(text, hints, known), ...findMails(text)];
  if (!/\d(?:.{0,3}\d){4}/.test(text)) return spans;
  const numbers = harmless.reduce((rest, pattern) => rest.replace(pattern, (match) => '~'.repeat(match.length)), text);
  return [
    ...spans,
    ...findIbans(numbers),
    ...findCards(numbers),
    ...findNationalIds(numbers, hints),
    ...findPhones(numbers, hints),
  ];
}

/** Returns whether a number is long enough for a phone number, a national id or a card number. */
export function mayBePersonal(value: number): boolean {
  return Number.isInteger(value) && value >= 100_000;
}

/** Redacts a numeric value, which may be a card number or, by its property name, a phone number or id. */
export function redactNumber(value: number, hints: Hints): number | string {
  if (!mayBePersonal(value)) return value;
  const digits = value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 0 });
  if (isCardNumber(digits)) return placeholder('card');
  // Above 2^53, the last digits are lost, so the Luhn check fails.
  if (hints.card && digits.length >= 13) return placeholder('card');
  if (hints.nationalId) return placeholder('national_id');
  return hints.phone && digits.length >= 6 && digits.length <= 15 ? placeholder('phone') : value;
}
