import { foldText, type FoldedText } from './folded-text.js';

interface Range {
  start: number;
  end: number;
}

/** The largest number of folded characters that an ellipsis in a quote stands for. */
const maxOmitted = 300;
const shortestPiece = 3;

/** Returns a function that finds the characters of a text that a model quotes, in the form in which the text has them. */
export function quoteFinder(text: string): (quote: string) => Range | undefined {
  let folded: FoldedText | undefined;
  return (quote) => {
    const exact = text.indexOf(quote);
    if (exact >= 0) return { start: exact, end: exact + quote.length };
    folded ??= foldText(text);
    const words = foldText(quote).text.trim();
    const found = findWords(folded.text, words) ?? findPieces(folded.text, words);
    return found && { start: folded.starts[found.start] ?? 0, end: folded.ends[found.end - 1] ?? 0 };
  };
}

const withoutOuterPunctuation = /[^\p{P}\s](?:.*[^\p{P}\s])?/su;

/** Finds whole words if there are any, and otherwise the first occurrence, if need be without the outer punctuation. */
function findWords(text: string, words: string, after = 0): Range | undefined {
  if (!/[\p{L}\p{N}]/u.test(words)) return undefined;
  for (const form of [words, withoutOuterPunctuation.exec(words)?.[0] ?? words]) {
    let first: Range | undefined;
    for (let at = text.indexOf(form, after); at >= 0; at = text.indexOf(form, at + 1)) {
      const range = { start: at, end: at + form.length };
      if (isWhole(text, range)) return range;
      first ??= range;
    }
    if (first) return first;
  }
  return undefined;
}

function isWhole(text: string, { start, end }: Range): boolean {
  const inWord = /[\p{L}\p{N}]{2}/u;
  return !inWord.test(text.slice(Math.max(0, start - 1), start + 1)) && !inWord.test(text.slice(end - 1, end + 1));
}

/** Finds the pieces of a quote with ellipses, near each other and in this order. */
function findPieces(text: string, words: string): Range | undefined {
  const pieces = words
    .split(/\[?\.{3,}\]?/)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '');
  if (pieces.some((piece) => piece.length < shortestPiece)) return undefined;
  const [first = '', ...others] = pieces;
  for (let start = findWords(text, first); start; start = findWords(text, first, start.start + 1)) {
    let whole = start;
    const isFound = others.every((piece) => {
      const next = findWords(text, piece, whole.end);
      if (!next || next.start - whole.end > maxOmitted) return false;
      whole = { start: whole.start, end: next.end };
      return true;
    });
    if (isFound) return whole;
  }
  return undefined;
}
