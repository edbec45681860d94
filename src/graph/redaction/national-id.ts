import { personValidators, stdnum } from 'stdnum';
import { isNamedBefore, mentions, type Hints } from './hints.js';
import { matches, type Span } from './span.js';

interface Form {
  pattern: RegExp;
  /** Checks the match. Omitted if the form alone is distinctive. */
  valid?: (text: string) => boolean;
}

const by = (country: string, kind: string) => {
  const validator = (
    stdnum as Record<string, Record<string, { validate(text: string): { isValid: boolean } }> | undefined>
  )[country]?.[kind];
  if (!validator) throw new Error(`no validator for ${country} ${kind}`);
  return (text: string) => validator.validate(text).isValid;
};
const form = (source: string, valid?: Form['valid']): Form => ({
  pattern: new RegExp(`(?<![\\p{L}\\p{N}.\\-/])(?:${source})(?![\\p{L}\\p{N}]|[.\\-/]\\d)`, 'giu'),
  ...(valid ? { valid } : {}),
});

/** Distinctive forms. All other forms need a hint, because random numbers often have valid check digits. */
const forms: readonly Form[] = [
  form('\\d{3}-\\d{2}-\\d{4}'),
  form('\\d{3} \\d{2} \\d{4}', by('US', 'ssn')),
  form('[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\\d{2} ?\\d{2} ?\\d{2} ?[A-D]', by('GB', 'nino')),
  form('\\d{3}\\.\\d{3}\\.\\d{3}-\\d{2}', by('BR', 'cpf')),
  form('\\d{8}-?[A-Z]', by('ES', 'dni')),
  form('[XYZ]-?\\d{7}-?[A-Z]', by('ES', 'nie')),
  form('[A-Z]{6}\\d{2}[A-EHLMPR-T]\\d{2}[A-Z]\\d{3}[A-Z]', by('IT', 'codicefiscale')),
  form('[12] ?\\d{2} ?(?:0[1-9]|1[0-2]) ?\\d[\\dAB] ?\\d{3} ?\\d{3} ?\\d{2}', by('FR', 'nir')),
  form('\\d{4}[ -]\\d{4}[ -]\\d{4}', by('IN', 'aadhaar')),
  form('[A-Z]{3}[ABCFGHLJPT][A-Z]\\d{4}[A-Z]', by('IN', 'pan')),
  form('(?:\\d{2})?\\d{6}[-+]\\d{4}', (text) => by('SE', 'personnummer')(text) || by('DK', 'cpr')(text)),
  form('\\d{6}[-+A]\\d{3}[0-9A-Y]', by('FI', 'hetu')),
  form('\\d{6}-[1-8]\\d{6}', by('KR', 'rrn')),
  form('\\d{2}\\.\\d{2}\\.\\d{2}-\\d{3}\\.\\d{2}', by('BE', 'nn')),
  form('756\\.?\\d{4}\\.?\\d{4}\\.?\\d{2}', by('CH', 'ssn')),
  form('\\d{1,2}\\.\\d{3}\\.\\d{3}-[\\dK]', by('CL', 'rut')),
  form('[A-Z]{4}\\d{6}[HM][A-Z]{5}[A-Z0-9]\\d', by('MX', 'curp')),
  form('[1-9]\\d{5}(?:19|20)\\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\\d|3[01])\\d{3}[\\dX]', by('CN', 'ric')),
  form('\\d{3}-\\d{3}-\\d{3}', by('CA', 'sin')),
];

/** Combines all forms into one expression, which most texts do not match. */
const anyForm = new RegExp(forms.map(({ pattern }) => `(?:${pattern.source})`).join('|'), 'iu');
const idLike =
  /(?<![\p{L}\p{N}])(?=(?:[ .\-/]?[\p{L}]){0,6}(?:[ .\-/]?\d){2})[\p{Lu}\d](?:[.\-/]?[\p{Lu}\d]|(?<=\d) \d){4,23}(?![\p{L}\p{N}])/gu;
const everyPersonValidator = Object.values(personValidators).flat();

/**
 * Finds national ids of people: by a distinctive form with valid check digits, or by a hint before any number that
 * could be one.
 */
export function findNationalIds(text: string, hints: Hints): Span[] {
  const formed = !anyForm.test(text)
    ? []
    : forms.flatMap(({ pattern, valid }) => matches(text, pattern, 'national_id', (match) => valid?.(match) ?? true));
  if (!hints.nationalId && !mentions(text, 'nationalId')) return formed;
  const hinted = matches(text, idLike, 'national_id', (match, at) => {
    if ((match.match(/\d/g) ?? []).length < 5) return false;
    return hints.nationalId || isNamedBefore(text, at, 'nationalId');
  });
  return [...formed, ...hinted];
}

/** Returns whether the text, joined from list pieces, is a valid number of a country with a reliable check. */
export function isNationalId(text: string): boolean {
  return (
    /^\d{3}-?\d{2}-?\d{4}$/.test(text) && everyPersonValidator.some((validator) => validator.validate(text).isValid)
  );
}
