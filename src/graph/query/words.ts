import { scopeTerm } from '../store/names.js';

/** Words of a question that name nothing in a graph; the index leaves out articles and the like by itself. */
const askingWords = new Set(
  'what who whom whose which when where why how is are was were do does did can could should would will shall has have had me my we our you your it its he she they them their about tell show list find give get any all please many much there'.split(' '),
);
const mostWords = 32;

/** The words of a question in lower case, each once; letters and digits only, so that none is a Lucene operator. */
export function wordsOf(text: string): string[] {
  const words = [...new Set((text.normalize('NFKC').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.slice(0, 64)))];
  const telling = words.filter((word) => !askingWords.has(word));
  return (telling.length > 0 ? telling : words).slice(0, mostWords);
}

/**
 * The Lucene query: the project's own elements alone, by a term that scores nothing, so that elements of other
 * projects neither take a place nor time; a word in the name counts for more than one in the text.
 */
export function luceneQuery(words: readonly string[], projectIds: readonly string[]): string {
  const scope = projectIds.map(scopeTerm).join(' ');
  const any = words.join(' ');
  return `+_scope:(${scope})^0 +(name:(${any})^3 _search:(${any}))`;
}
