import { z } from 'zod';

const Line = z.object({
  kind: z.enum(['same', 'removed', 'added']),
  text: z.string().meta({ example: 'Check the register first.' }),
});
type Line = z.infer<typeof Line>;

/** A part of a text that differs, with lines around it. */
export const Hunk = z.object({
  from_line: z.int().describe('The number of its first line before, from 1.').meta({ example: 4 }),
  to_line: z.int().describe('The number of its first line after.').meta({ example: 4 }),
  lines: z.array(Line),
});
export type Hunk = z.infer<typeof Hunk>;

const contextLines = 2;
/** Above this number of compared pairs, what differs is shown as a whole. */
const maxPairs = 1_000_000;

/** The parts in which two texts differ, line by line. */
export function hunksOf(from: string, to: string): Hunk[] {
  const lines = comparedLines(from.split('\n'), to.split('\n'));
  const shown = lines.map((_, at) =>
    lines.slice(Math.max(0, at - contextLines), at + contextLines + 1).some(({ kind }) => kind !== 'same'),
  );
  const hunks: Hunk[] = [];
  let [from_line, to_line] = [1, 1];
  lines.forEach((line, at) => {
    if (shown[at] && !shown[at - 1]) hunks.push({ from_line, to_line, lines: [] });
    if (shown[at]) hunks.at(-1)?.lines.push(line);
    if (line.kind !== 'added') from_line += 1;
    if (line.kind !== 'removed') to_line += 1;
  });
  return hunks;
}

function comparedLines(from: readonly string[], to: readonly string[]): Line[] {
  let start = 0;
  while (start < Math.min(from.length, to.length) && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < Math.min(from.length, to.length) - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  const same = (texts: readonly string[]) => texts.map((text): Line => ({ kind: 'same', text }));
  return [
    ...same(from.slice(0, start)),
    ...changedLines(from.slice(start, from.length - end), to.slice(start, to.length - end)),
    ...same(from.slice(from.length - end)),
  ];
}

/** By the longest common subsequence of lines. */
function changedLines(from: readonly string[], to: readonly string[]): Line[] {
  const lines: Line[] = [];
  const lengths = from.length * to.length > maxPairs ? undefined : commonLengths(from, to);
  let [left, right] = [0, 0];
  while (lengths && left < from.length && right < to.length) {
    const [a = '', b = ''] = [from[left], to[right]];
    if (a === b) lines.push({ kind: 'same', text: a });
    const dropsLeft = (lengths[left + 1]?.[right] ?? 0) >= (lengths[left]?.[right + 1] ?? 0);
    if (a !== b) lines.push(dropsLeft ? { kind: 'removed', text: a } : { kind: 'added', text: b });
    if (a === b || dropsLeft) left += 1;
    if (a === b || !dropsLeft) right += 1;
  }
  for (const text of from.slice(left)) lines.push({ kind: 'removed', text });
  for (const text of to.slice(right)) lines.push({ kind: 'added', text });
  return lines;
}

/** `[i][j]` is the length of the longest common subsequence of `from` from i on and `to` from j on. */
function commonLengths(from: readonly string[], to: readonly string[]): Uint32Array[] {
  const rows = Array.from({ length: from.length + 1 }, () => new Uint32Array(to.length + 1));
  for (let i = from.length - 1; i >= 0; i -= 1) {
    const [row, below] = [rows[i], rows[i + 1]];
    if (!row || !below) continue;
    for (let j = to.length - 1; j >= 0; j -= 1)
      row[j] = from[i] === to[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
  }
  return rows;
}
