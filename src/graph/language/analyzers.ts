import { z } from 'zod';

/** ISO 639-1. */
export const Language = z.enum(['de', 'en', 'es', 'fr', 'ja', 'zh']);
export type Language = z.infer<typeof Language>;

/** `auto`: the language of the first texts that are saved. */
export const LanguageSetting = z.enum(['auto', ...Language.options]);
export type LanguageSetting = z.infer<typeof LanguageSetting>;

/** A full-text analyzer of the database. */
export type Analyzer = 'english' | 'german' | 'spanish' | 'french' | 'cjk';

/** For projects without a language, and for what earlier releases saved. */
export const defaultAnalyzer = 'english';

const analyzers: Record<Language, Analyzer> = {
  de: 'german',
  en: 'english',
  es: 'spanish',
  fr: 'french',
  ja: 'cjk',
  zh: 'cjk',
};

export function analyzerOf(language: Language | null): Analyzer {
  return language === null ? defaultAnalyzer : analyzers[language];
}

/**
 * The analyzers with an index over a label of their own. The English index contains the nodes of all projects, so that a
 * change of the language has an index to search until the other one is complete.
 */
export const labels = {
  german: '_German',
  spanish: '_Spanish',
  french: '_French',
  cjk: '_Cjk',
} as const satisfies Record<Exclude<Analyzer, typeof defaultAnalyzer>, string>;

export function textIndexOf(analyzer: Analyzer): string {
  return analyzer === defaultAnalyzer ? 'context_text' : `context_text_${analyzer}`;
}

/** The part of a SET clause that puts a node into the indexes of the analyzers. Empty for the default one. */
export function indexing(variable: string, used: readonly Analyzer[]): string {
  const own = used.flatMap((analyzer) => (analyzer === defaultAnalyzer ? [] : [labels[analyzer]]));
  return [...new Set(own)].map((label) => `, ${variable}:${label}`).join('');
}
