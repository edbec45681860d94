import { LRUCache } from 'lru-cache';

/** What the name of a property, or the words before a number, indicate about the value. */
export interface Hints {
  phone: boolean;
  nationalId: boolean;
  secret: boolean;
  card: boolean;
}

export const noHints: Hints = { phone: false, nationalId: false, secret: false, card: false };

const phone = 'phones?|mobile|cell(?:phone)?|telephone|telefon|telefone|telefono|tel|fax|whatsapp|msisdn|handy|sms';
const nationalId =
  'ssn|itin|nino|cpf|dni|nie|nif|nir|curp|pesel|bsn|cpr|hetu|cnp|egn|oib|sin|nhs|aadhaar|insee|rrn|personnummer|passport|social security|national (?:id|identity|insurance|number)|identity (?:card|number|no)|id card|tax (?:id|number|payer|file)|taxpayer|codice fiscale|driv(?:er|ing) licen[cs]e|drivers licen[cs]e|steuer id|insurance number|medicare';
const secret =
  'password|passwd|passphrase|pwd|secret|api key|apikey|access key|private key|secret key|signing key|access token|auth token|refresh token|bearer token|session token|id token|credentials?';
const card = 'card|credit card|pan|cc number';

const anywhere = (words: string) => new RegExp(`(?<!\\p{L})(?:${words})(?!\\p{L})`, 'u');
const atTheEnd = (words: string) =>
  new RegExp(
    `(?<!\\p{L})(?:${words})(?: (?:number|num|no|nr|is|was|me|us|at|on|under|code|id|my|home|work|office))* ?$`,
    'u',
  );

const inName = {
  phone: anywhere(phone),
  nationalId: anywhere(nationalId),
  secret: anywhere(secret),
  card: anywhere(card),
};
const verbs = 'call(?:ed)?|dial|ring';
const somewhere = { phone: anywhere(`${phone}|${verbs}`), nationalId: inName.nationalId };
const before = { phone: atTheEnd(`${phone}|${verbs}`), nationalId: atTheEnd(nationalId) };
/** Words that negate a hint: `phone_count` and `password_policy` describe no phone and no password. */
const metadataWords =
  /(?<!\p{L})(?:counts?|total|users?|sold|sales|price|amount|cost|size|year|rate|percent|score|usage|minutes|model|type|duration|policy|length|url|endpoint|version|enabled|status|expir\p{L}*|required|valid|verified|at)(?!\p{L})/u;

/** Splits `homePhoneNumber` and `home_phone_number` into three words. */
function wordsOf(name: string): string {
  return name
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .toLowerCase();
}

const byName = new LRUCache<string, Hints>({ max: 5000 });

export function hintsOfName(name: string): Hints {
  const known = byName.get(name);
  if (known) return known;
  const words = wordsOf(name.slice(0, 200));
  const isMetadata = metadataWords.test(words);
  const says = (kind: keyof Hints) => !isMetadata && inName[kind].test(words);
  const found = { phone: says('phone'), nationalId: says('nationalId'), secret: says('secret'), card: says('card') };
  const hints = Object.values(found).includes(true) ? found : noHints;
  byName.set(name, hints);
  return hints;
}

const reach = 40;

/** Returns whether a text contains such a word at all. If not, its numbers need no further check. */
export function mentions(text: string, kind: 'phone' | 'nationalId'): boolean {
  return somewhere[kind].test(wordsOf(text));
}

/** Returns whether the words directly before a number name its kind: `Tel.: `, `passport no. `. */
export function isNamedBefore(text: string, at: number, kind: 'phone' | 'nationalId'): boolean {
  return before[kind].test(wordsOf(text.slice(Math.max(0, at - reach), at)));
}
