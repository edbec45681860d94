/** Letters that Unicode does not decompose, as they are usually written without their sign. */
const plainLetters = new Map(
  Object.entries({
    ß: 'ss',
    æ: 'ae',
    œ: 'oe',
    ø: 'o',
    đ: 'd',
    ð: 'd',
    ł: 'l',
    þ: 'th',
    ı: 'i',
    ħ: 'h',
    ŧ: 't',
    ς: 'σ',
  }),
);
const specialLetters = new RegExp(`[${[...plainLetters.keys()].join('')}]`, 'gu');
/** Accents and vowel points, the Arabic tatweel, and characters without a visible form, such as the soft hyphen. */
const signs =
  /[\u0300-\u036F\u0483-\u0487\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0610-\u061A\u0640\u064B-\u065F\u0670\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20FF\uFE20-\uFE2F]|\p{Default_Ignorable_Code_Point}/gu;
/** Apostrophes that Unicode counts as letters, as in Hawaiʻi. */
const letterApostrophes = /[\u02B9-\u02BD\u02C8\uA78B\uA78C]/gu;
const ascii = /^[\x00-\x7F]*$/;

/** Returns a text without differences of case, accents, width and ligatures. Keeps punctuation and spaces. */
export function fold(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(signs, '')
    .replace(letterApostrophes, "'")
    .normalize('NFKC')
    .toLowerCase()
    .replace(signs, '')
    .replace(specialLetters, (letter) => plainLetters.get(letter) ?? letter);
}

/** A character of a script that does not separate words by spaces, with its signs. */
export const unspaced = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30FC\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*`;
const runOfUnspaced = new RegExp(`(?:${unspaced})+`, 'gu');
const oneUnspaced = new RegExp(unspaced, 'gu');
const word = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const unit = new RegExp(`${unspaced}|${word.source}`, 'gu');
const maxLength = 64;

/**
 * Returns all words of a text, folded. They contain only letters, digits and their signs, so none is a Lucene operator.
 * The index stores these words, so that a text and a question are divided in the same way (decision 0026). Scripts without spaces
 * are divided into every two adjacent characters.
 */
export function tokensOf(text: string): string[] {
  const spaced = fold(text).replace(runOfUnspaced, (run) => ` ${pairsOf(run.match(oneUnspaced) ?? []).join(' ')} `);
  return (spaced.match(word) ?? []).map((each) => each.slice(0, maxLength));
}

function pairsOf(characters: readonly string[]): string[] {
  if (characters.length < 2) return [...characters];
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** A word, or a character of a script without spaces, with its place in a text. */
export interface Unit {
  text: string;
  start: number;
  end: number;
}

/** Returns the units of a folded text, without division into pairs. */
export function unitsIn(folded: string): Unit[] {
  return [...folded.matchAll(unit)].map(({ 0: text, index }) => ({ text, start: index, end: index + text.length }));
}

const maxKeyLength = 200;

/** Returns a key that is equal for names whose letters and digits are equal after folding. A name without any keeps its signs. */
export function titleKey(name: string): string {
  const folded = fold(name);
  const letters = unitsIn(folded).map(({ text }) => text);
  const key = letters.length > 0 ? letters.join('') : folded.replace(/\s+/g, '');
  return key.slice(0, maxKeyLength);
}
