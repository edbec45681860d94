import { type Language } from './analyzers.js';

/** How many words speak for each language. `other`: for a language without an analyzer here. */
export type Evidence = Partial<Record<Language | 'other', number>>;

/** Frequent words without meaning of their own that only one of the languages has. */
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
/** Of Chinese and Japanese characters, as many as one word of the other languages has on average. */
const charactersPerWord = 2;
/** Japanese texts have at least this share of kana. */
const kanaShare = 0.05;

/** Names, codes and numbers are no evidence, so they do not change the language of a project. */
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
/** With this much evidence, the most frequent language counts even if the texts are mixed. */
const plenty = 400;

/** The language of the texts, or null if there is too little evidence. English stands for `other`. */
export function languageFrom(evidence: Evidence): Language | null {
  const sorted = (Object.entries(evidence) as [Language | 'other', number][]).sort(([, a], [, b]) => b - a);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  const [language, count] = sorted[0] ?? ['other', 0];
  if (total < enough || (count < total * clearShare && total < plenty)) return null;
  return language === 'other' ? 'en' : language;
}
