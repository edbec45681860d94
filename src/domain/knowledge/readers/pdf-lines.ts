const hyphenated = /(?<![\p{L}\p{M}])(\p{L}[\p{L}\p{M}]*)[-\u2010]\s?\n\s?(\p{Ll}[\p{L}\p{M}]*)/gu;

/**
 * Joins words that are divided at the end of a line. A hyphen is kept if the document contains the same word with a
 * hyphen within a line.
 */
export function joinHyphenated(pages: readonly string[]): string[] {
  const texts = pages.map((page) => page.replace(/\u00AD\s?\n\s?/g, '').replaceAll('\u00AD', ''));
  const compounds = new Set<string>();
  for (const text of texts) {
    for (const [word] of text.matchAll(/(?<![\p{L}\p{M}])\p{L}[\p{L}\p{M}]*(?:[-\u2010]\p{L}[\p{L}\p{M}]*)+/gu)) {
      const parts = word.toLowerCase().split(/[-\u2010]/);
      for (let at = 1; at < parts.length; at += 1) compounds.add(`${parts[at - 1]}-${parts[at]}`);
    }
  }
  return texts.map((text) =>
    text.replace(hyphenated, (_match, first: string, second: string) =>
      compounds.has(`${first}-${second}`.toLowerCase()) ? `${first}-${second}` : first + second,
    ),
  );
}

/** Lines with fewer single characters may be lists. */
const leastRun = 5;

/**
 * Closes up text with spaces between its characters, as recognized text and spaced headings have. If such text shows no
 * words, these begin at capital letters, at numbers and after punctuation. Single digits and capitals may be a table, so
 * they are closed up only on a page where at least half of the lines are spaced.
 */
export function closeUp(page: string): string {
  const lines = page.split('\n');
  const filled = lines.filter((line) => line.trim() !== '');
  const isPageSpaced = filled.filter(isSpaced).length >= filled.length / 2;
  return lines
    .map((line) => (isSpaced(line) || (isPageSpaced && runsOf(line).length > 0) ? closedUp(line) : line))
    .join('\n');
}

const spacedRun = /(?<=^|\s)[^\s](?:[ \t]+[^\s](?=\s|$)){2,}/gu;

function runsOf(line: string): string[] {
  return line.match(spacedRun) ?? [];
}

/** Whether a line contains words of single characters. */
function isSpaced(line: string): boolean {
  return runsOf(line).some((run) => {
    const characters = run.split(/[ \t]+/);
    const letters = characters.filter((character) => /\p{L}/u.test(character));
    const isList = characters.every(
      (character, at) => at === 0 || codeOf(character) === codeOf(characters[at - 1]) + 1,
    );
    return (
      characters.length >= leastRun &&
      letters.length >= characters.length / 2 &&
      letters.some((letter) => !/\p{Lu}/u.test(letter)) &&
      !isList
    );
  });
}

function codeOf(character = ''): number {
  return character.codePointAt(0) ?? 0;
}

function closedUp(line: string): string {
  return line.replace(spacedRun, (run) => {
    const words = run.split(/[ \t]{2,}/);
    if (words.length > 1) return words.map((word) => word.replace(/[ \t]/g, '')).join(' ');
    return run
      .replace(/[ \t]/g, '')
      .replace(/(?<=\p{Ll})(?=[\p{Lu}\p{N}])|(?<=\p{N})(?=\p{L})|(?<=\p{Lu}{2})(?=\p{Lu}\p{Ll})/gu, ' ')
      .replace(/(?<=[,;:!?)])(?=[\p{L}\p{N}])|(?<=\.)(?=\p{Lu}\p{Ll})/gu, ' ');
  });
}
