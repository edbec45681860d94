import { isPossiblePhoneNumber, isValidPhoneNumber, type CountryCode } from 'libphonenumber-js/core';
import metadata from 'libphonenumber-js/max/metadata';
import { isNamedBefore, mentions, type Hints } from './hints.js';
import { matches, type Span } from './span.js';

const gap = '[ ./\\-\\u2010-\\u2015]{0,3}';
const international = new RegExp(
  `(?<![\\p{L}\\p{N}+])(?:\\+|00)${gap}\\(?[1-9](?:${gap}\\(?\\d\\)?){6,14}(?![\\p{L}\\p{N}])`,
  'gu',
);
const northAmerican =
  /(?<![\p{L}\p{N}.\-/])(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\p{L}\p{N}]|[.\-/]\d)/gu;
const withTrunkZero = new RegExp(
  `(?<![\\p{L}\\p{N}.,:/\\-])\\(?0[1-9]\\d{0,4}\\)?(?:${gap}\\d){5,9}(?![\\p{L}\\p{N}]|[.,:/\\-]\\d)`,
  'gu',
);
const anyNumber = new RegExp(`(?<![\\p{L}\\p{N}])\\(?\\d(?:${gap}\\(?\\d\\)?){5,14}(?![\\p{L}\\p{N}])`, 'gu');

/** Countries whose national numbers begin with a zero. */
const trunkZero = 'GB DE FR IT NL BE CH AT IE SE FI AU NZ JP KR IN ZA BR TR IL'.split(' ') as CountryCode[];
const bareZero: readonly CountryCode[] = ['GB', 'FR', 'DE'];

/**
 * Finds phone numbers: international, North American and trunk-zero numbers by their form, and any number that the
 * words before it or its property name describe as a phone number.
 */
export function findPhones(text: string, hints: Hints): Span[] {
  const hinted = hints.phone
    ? () => true
    : mentions(text, 'phone')
      ? (at: number) => isNamedBefore(text, at, 'phone')
      : undefined;
  return [
    ...matches(text, international, 'phone', isInternational),
    ...matches(
      text,
      northAmerican,
      'phone',
      (match) => /[-.(]/.test(match) || isValidPhoneNumber(match, 'US', metadata),
    ),
    ...matches(text, withTrunkZero, 'phone', isNational),
    ...(hinted ? matches(text, anyNumber, 'phone', (match, at) => digitsOf(match).length <= 15 && hinted(at)) : []),
  ];
}

function isInternational(match: string): boolean {
  const digits = digitsOf(match);
  if (match.startsWith('+')) return isPossiblePhoneNumber(`+${digits}`, metadata);
  const number = `+${digits.slice(2)}`;
  return digits.length === match.length
    ? isValidPhoneNumber(number, metadata)
    : isPossiblePhoneNumber(number, metadata);
}

function isNational(match: string): boolean {
  const digits = digitsOf(match);
  const countries = digits.length === match.length ? bareZero : trunkZero;
  if (digits.length === match.length && digits.length < 10) return false;
  return countries.some((country) => isValidPhoneNumber(digits, country, metadata));
}

function digitsOf(text: string): string {
  return text.replace(/\D/g, '');
}
