import { type Language } from './analyzers.js';

/** The number of words that indicate each language. `other` is any language without an analyzer. */
export type Evidence = Partial<Record<Language | 'other', number>>;

/** Frequent function words that only one of the languages has. */
const words: Record<'de' | 'en' | 'es' | 'fr' | 'other', string> = {
  de: 'der das und ist nicht ein eine einen mit von zu dem den auf für sich im auch wird werden wurde sind bei oder aus ich wir haben hat',
  en: 'the and of to that it for with as his they at be this have from or by not were which are has will their been',
  es: 'el los las y una con del más su fue pero está como muy hay son esta este donde cuando también ha ser',
  fr: 'les et est une dans qui pour pas sur au par avec du elle il sont ce cette mais nous ont été aux plus je vous',
  other: 'não uma os mais foi ele também het een van niet zijn dat di che della sono anche och att som det är jest się',
};
const languageOf = new Map(
  Object.entries(words).flatMap(([language, list]) =>
    list.split(' ').map((word) => [word, language as keyof typeof words] as const),
  ),
);
const maxCharacters = 20_000;
/** The number of Chinese or Japanese characters that count as one word of the other languages. */
const charactersPerWord = 2;
/** The minimum share of kana in Japanese texts. */
const kanaShare = 0.05;

/**
 * Counts the words that indicate a language. Names, codes and numbers do not count, so they do not change the language
 * of a project.
 */
export function evidenceIn(texts: Iterable<string>): Evidence {
  const found: Evidence = {};
  const add = (language: Language | 'other', count: number) => {
    if (count > 0) found[language] = (found[language] ?? 0) + count;
  };
  let left = maxCharacters;
  for (const whole of texts) {
    if (left <= 0) break;
    const text = whole.slice(0, left).normalize('NFKC').toLowerCase();
    left -= text.length;
    for (const word of text.match(/\p{Script=Latin}+/gu) ?? []) {
      const language = languageOf.get(word);
      if (language) add(language, 1);
    }
    const kana = text.match(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
    const characters = kana + (text.match(/\p{Script=Han}/gu)?.length ?? 0);
    add(kana > characters * kanaShare ? 'ja' : 'zh', Math.floor(characters / charactersPerWord));
  }
  return found;
}

export function sumOf(a: Evidence, b: Evidence): Evidence {
  const sum: Evidence = { ...a };
  for (const [language, count] of Object.entries(b) as [Language | 'other', number][])
    sum[language] = (sum[language] ?? 0) + count;
  return sum;
}

const enough = 20;
const clearShare = 0.6;
/** With this much evidence, the most frequent language is chosen even if the texts are mixed. */
const decisive = 400;

/** Returns the language of the texts, or null if there is too little evidence. Returns English for `other`. */
export function languageFrom(evidence: Evidence): Language | null {
  const sorted = (Object.entries(evidence) as [Language | 'other', number][]).sort(([, a], [, b]) => b - a);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  const [language, count] = sorted[0] ?? ['other', 0];
  if (total < enough || (count < total * clearShare && total < decisive)) return null;
  return language === 'other' ? 'en' : language;
}
