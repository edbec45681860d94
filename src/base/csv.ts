/** In the order of preference, if several divide all lines alike: a comma also occurs in numbers and sentences. */
const delimiters = ['\t', ';', '|', ','] as const;
/** Divides nothing, for a file of one column. */
const noDelimiter = '\u001F';
const inspectedCharacters = 100_000;
const inspectedLines = 200;

/** Options of `csv-parse` that depend on the file. */
export interface CsvFormat {
  delimiter: string;
  /** The line of the column names, starting at 1. */
  from_line: number;
}

/**
 * Detects the one delimiter of a CSV file: the one that Excel's first line `sep=;` names, or the one that divides the
 * first line into columns and most other lines into as many, or else all lines below a title. Delimiters in quotes do not count. Used by the server and
 * by the console.
 */
export function csvFormatOf(text: string): CsvFormat {
  const named = /^\uFEFF?"?sep=([^"\r\n])"?[,;\t|]*(?:\r\n?|\n|$)/i.exec(text)?.[1];
  if (named !== undefined) return { delimiter: named, from_line: 2 };
  const head = text.slice(0, inspectedCharacters).replace(/^\uFEFF/, '');
  let best: { delimiter: string; share: number } = { delimiter: noDelimiter, share: 0 };
  for (const delimiter of delimiters) {
    const [columns = 1, ...others] = widthsOf(head, delimiter);
    if (columns === 1) continue;
    const share = (1 + others.filter((width) => width === columns).length) / (1 + others.length);
    if (share > best.share) best = { delimiter, share };
  }
  if (best.share === 0)
    best.delimiter = delimiters.find((delimiter) => dividesTable(widthsOf(head, delimiter))) ?? noDelimiter;
  return { delimiter: best.delimiter, from_line: 1 };
}

/** Whether lines without the delimiter are followed only by lines with the same number of cells, at least three. */
function dividesTable(widths: readonly number[]): boolean {
  const table = widths.slice(widths.findIndex((width) => width > 1));
  return table.length > 1 && table.length < widths.length && table.every((width) => width > 2 && width === table[0]);
}

/** Counts the cells of each line. A quote opens a quoted cell only at the start of the cell (RFC 4180). */
function widthsOf(text: string, delimiter: string): number[] {
  const widths: number[] = [];
  let [width, isEmpty, isQuoted, isCellStart] = [1, true, false, true];
  const endLine = () => {
    if (!isEmpty) widths.push(width);
    [width, isEmpty, isCellStart] = [1, true, true];
  };
  for (let at = 0; at < text.length && widths.length < inspectedLines; at += 1) {
    const character = text[at] as string;
    if (isQuoted) {
      // A doubled quote closes the cell and opens it again.
      if (character === '"') isQuoted = false;
      continue;
    }
    if (character === '\n' || character === '\r') {
      endLine();
      continue;
    }
    if (character === '"' && (isCellStart || text[at - 1] === '"')) isQuoted = true;
    else if (character === delimiter) width += 1;
    isCellStart = character === delimiter || (isCellStart && character === ' ');
    isEmpty &&= character === ' ';
  }
  endLine();
  return widths;
}
