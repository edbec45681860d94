import { scopeTerm } from '../store/names.js';

/** Words of a question that do not describe its subject. The index ignores articles and similar words itself. */
const askingWords = new Set(
  'what who whom whose which when where why how is are was were do does did can could should would will shall has have had me my we our you your it its he she they them their about tell show list find give get any all please many much there'.split(
    ' ',
  ),
);
const maxWords = 32;

/**
 * The distinct words of a question in lower case. They contain only letters and digits, so none is a Lucene operator.
 */
export function wordsOf(text: string): string[] {
  const words = [
    ...new Set(
      (
        text
          .normalize('NFKC')
          .toLowerCase()
          .match(/[\p{L}\p{N}]+/gu) ?? []
      ).map((word) => word.slice(0, 64)),
    ),
  ];
  const significant = words.filter((word) => !askingWords.has(word));
  return (significant.length > 0 ? significant : words).slice(0, maxWords);
}

/**
 * The Lucene query. A required scope term without score excludes elements of other projects early. A match in the
 * name counts more than one in the text.
 */
export function luceneQuery(words: readonly string[], projectIds: readonly string[]): string {
  const scope = projectIds.map(scopeTerm).join(' ');
  const any = words.join(' ');
  return `+_scope:(${scope})^0 +(name:(${any})^3 _search:(${any}))`;
}
