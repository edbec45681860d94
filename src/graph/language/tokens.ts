const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30FC]+/gu;
const maxLength = 64;

/**
 * Returns all words of a text in lower case. They contain only letters and digits, so none is a Lucene operator.
 * Chinese and Japanese have no spaces, so every two adjacent characters form a word, as in the index.
 */
export function tokensOf(text: string): string[] {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(ideographs, (run) => ` ${pairsOf([...run]).join(' ')} `)
    .match(/[\p{L}\p{N}]+/gu);
  return (words ?? []).map((word) => word.slice(0, maxLength));
}

function pairsOf(characters: readonly string[]): string[] {
  if (characters.length < 2) return [...characters];
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}
