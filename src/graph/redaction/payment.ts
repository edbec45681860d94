import cardValidator from 'card-validator';
import { countrySpecs } from 'ibantools';
import { matches, type Span } from './span.js';

const separator = '[ .\\-\\u2010-\\u2015/]';
const digitRun = new RegExp(`(?<![\\p{L}\\p{N}]|\\d[.,])\\d(?:${separator}?\\d){11,45}(?![\\p{L}\\p{N}])`, 'gu');

export function isCardNumber(digits: string): boolean {
  if (digits.length < 13 || digits.length > 19 || /^(\d)\1+$/.test(digits)) return false;
  if (!passesLuhn(digits)) return false;
  const { isValid, card } = cardValidator.number(digits);
  return isValid && card !== null;
}

/**
 * Returns whether the Luhn check passes. Called before the library, which determines the brand first and takes a
 * hundred times as long.
 */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, double = false; at >= 0; at -= 1, double = !double) {
    const digit = digits.charCodeAt(at) - 48;
    sum += double ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
  }
  return sum % 10 === 0;
}

/** Finds cards by brand and Luhn check, also within a longer series of numbers. */
export function findCards(text: string): Span[] {
  const spans: Span[] = [];
  for (const run of text.matchAll(digitRun)) {
    if (isCardNumber(run[0].replace(/\D/g, '')))
      spans.push({ start: run.index, end: run.index + run[0].length, label: 'card' });
    else spans.push(...cardsWithin(run[0], run.index));
  }
  return spans;
}

/** Joins adjacent groups of at least three digits, to find a card between other numbers. */
function cardsWithin(run: string, offset: number): Span[] {
  const groups = [...run.matchAll(/\d+/g)];
  for (let first = 0; first < groups.length; first += 1) {
    let digits = '';
    for (let last = first; last < groups.length && digits.length < 19; last += 1) {
      const group = groups[last];
      const start = groups[first]?.index ?? 0;
      if (!group || group[0].length < 3) break;
      digits += group[0];
      if (isCardNumber(digits))
        return [{ start: offset + start, end: offset + group.index + group[0].length, label: 'card' }];
    }
  }
  return [];
}

const ibanLike = /(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?:[ \-.]?[A-Z0-9]){11,40}/giu;

/** Finds IBANs by country, length and check digits (ISO 13616), without the words that follow. */
export function findIbans(text: string): Span[] {
  return matches(text, ibanLike, 'iban', (match) => {
    const length = countrySpecs[match.slice(0, 2).toUpperCase()]?.chars;
    if (!length) return false;
    let compact = '';
    let at = 0;
    for (; at < match.length && compact.length < length; at += 1) {
      const character = match.charAt(at);
      if (/[A-Z0-9]/i.test(character)) compact += character.toUpperCase();
    }
    return compact.length === length && passesMod97(compact) && at;
  });
}

/** Returns whether the check digits are valid. The library also checks the format, which takes a hundred times as long. */
function passesMod97(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
