/** A text in a form that ignores what models change when they quote. Each of its characters has a place in the original. */
export interface FoldedText {
  text: string;
  /** The positions in the original of each UTF-16 code unit of `text`: where its characters begin and end. */
  starts: number[];
  ends: number[];
}

const marks = /\p{M}/u;
const quotes = /['‘’‚‛′`´ʹʼ＇‹›"“”„‟″«»「」『』〝〞＂]/u;
const dashes = /[\p{Pd}−]/u;
const ignored = /\p{Default_Ignorable_Code_Point}/u;
/** White space, and the line between the cells of a table. */
const space = /[\p{White_Space}|]/u;

/** The marks of Markdown that surround or precede words: emphasis, code, headings, lists, block quotes and links. After a backslash, they are text. */
const markdown =
  /(?<!\\)[*`~]+|(?<![\p{L}\p{N}\\])_+|(?<!\\)_+(?![\p{L}\p{N}])|^[ \t]*(?:#{1,6}|>|[-+])(?=[ \t])|\]\([^()\n]*\)|(?<!\\)[[\]]|\\(?=[!-/:-@[-`{-~])/gmu;
const hyphens = /[\p{Pd}−\u00AD]+/gu;

/**
 * Folds case, Unicode forms, quotation marks, dashes, soft hyphens, white space and the marks of Markdown. Words stay
 * apart, and letters, digits and other signs stay as they are.
 */
export function foldText(original: string): FoldedText {
  const isRemoved = new Uint8Array(original.length);
  for (const { index, 0: mark } of original.matchAll(markdown)) isRemoved.fill(1, index, index + mark.length);
  for (const { start, end } of hyphensBetweenLetters(original)) isRemoved.fill(1, start, end);
  const folded: FoldedText = { text: '', starts: [], ends: [] };
  const add = (text: string, start: number, end: number) => {
    if (text === ' ' && /(?:^|[ '-])$/.test(folded.text)) return;
    if (isSign(text)) {
      if (folded.text.endsWith(text)) return;
      if (folded.text.endsWith(' ')) removeLast(folded);
    }
    folded.text += text;
    for (let at = 0; at < text.length; at += 1) {
      folded.starts.push(start);
      folded.ends.push(end);
    }
  };
  for (const { start, end } of characters(original))
    if (!isRemoved[start]) for (const sign of foldCharacter(original.slice(start, end))) add(sign, start, end);
  return folded;
}

/**
 * Yields dashes between letters with the white space around them. At the end of a line, a dash may only break the word.
 */
function* hyphensBetweenLetters(text: string): Generator<{ start: number; end: number }> {
  for (const { index, 0: dash } of text.matchAll(hyphens)) {
    let start = index;
    while (/[ \t]/.test(text.charAt(start - 1))) start -= 1;
    let end = index + dash.length;
    while (/\s/.test(text.charAt(end))) end += 1;
    const before = text.slice(Math.max(0, start - longestCharacter), start);
    if (/\p{L}\p{M}*$/u.test(before) && /^\p{L}/u.test(text.slice(end, end + 2))) yield { start, end };
  }
}

/** In UTF-16 code units, with its marks. */
const longestCharacter = 40;

/** Quotation marks and dashes, which are written with and without white space, and once or twice. */
function isSign(text: string): boolean {
  return text === "'" || text === '-';
}

function removeLast(folded: FoldedText): void {
  folded.text = folded.text.slice(0, -1);
  folded.starts.pop();
  folded.ends.pop();
}

/** Yields each character with its combining marks. */
function* characters(text: string): Generator<{ start: number; end: number }> {
  let start = 0;
  let end = 0;
  for (const character of text) {
    if (end > start && !marks.test(character)) {
      yield { start, end };
      start = end;
    }
    end += character.length;
  }
  if (end > start) yield { start, end };
}

function* foldCharacter(character: string): Generator<string> {
  if (quotes.test(character)) yield "'";
  else
    for (const part of character.normalize('NFKD').toLowerCase().replaceAll('ß', 'ss').normalize('NFKD')) {
      if (ignored.test(part)) continue;
      if (space.test(part)) yield ' ';
      else yield dashes.test(part) ? '-' : part === 'ς' ? 'σ' : part;
    }
}
