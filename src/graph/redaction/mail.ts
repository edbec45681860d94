import { matches, type Span } from './span.js';

const at = '(?:@|%40| ?\\(at\\) ?| ?\\[at\\] ?|＠)';
const dot = '(?:\\.| ?\\(dot\\) ?| ?\\[dot\\] ?)';
const label = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}\\-]{0,61}[\\p{L}\\p{N}])?';
const address = new RegExp(
  `(?<![\\p{L}\\p{N}._+\\-])[\\p{L}\\p{N}._+!#$&'*/=?^\`{|}~\\-]{1,64}${at}(?:${label}${dot}){1,8}(?:\\p{L}{2,63}|xn--[a-z0-9\\-]{2,59})(?![\\p{L}\\p{N}])`,
  'giu',
);
const quoted = /"[^"@\n]{1,64}"@[\p{L}\p{N}.-]{3,253}/gu;

const holdsAt = new RegExp(at, 'i');

/** Finds email addresses, including percent-encoded ones and ones with (at) and (dot). */
export function findMails(text: string): Span[] {
  return holdsAt.test(text) ? [...matches(text, address, 'email'), ...matches(text, quoted, 'email')] : [];
}
