import { z } from 'zod';

/** A language by its ISO 639-1 code. */
export const Language = z.enum(['de', 'en', 'es', 'fr', 'ja', 'zh']);
export type Language = z.infer<typeof Language>;

/** The setting of a project. `auto` selects the language of the first texts that are saved. */
export const LanguageSetting = z.enum(['auto', ...Language.options]);
export type LanguageSetting = z.infer<typeof LanguageSetting>;

/** A full-text analyzer of the database. */
export type Analyzer = 'english' | 'german' | 'spanish' | 'french' | 'cjk';

/** The analyzer of projects without a language. */
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
 * The analyzers whose index covers a separate label. The English index contains the nodes of all projects, so that a
 * project can search it while the index of a new language is incomplete.
 */
export const labels = {
  german: '_German',
  spanish: '_Spanish',
  french: '_French',
  cjk: '_Cjk',
} as const satisfies Record<Exclude<Analyzer, typeof defaultAnalyzer>, string>;

export function textIndexOf(analyzer: Analyzer): string {
  return analyzer === defaultAnalyzer ? 'context_words' : `context_words_${analyzer}`;
}

/**
 * Returns the part of a SET clause that adds a node to the indexes of the analyzers. Empty for the default analyzer.
 */
export function indexing(variable: string, used: readonly Analyzer[]): string {
  const own = used.flatMap((analyzer) => (analyzer === defaultAnalyzer ? [] : [labels[analyzer]]));
  return [...new Set(own)].map((label) => `, ${variable}:${label}`).join('');
}
