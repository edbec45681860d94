/** The kind of a finding. The replacement contains it: `[redacted:email]`. */
export type Label = 'email' | 'phone' | 'card' | 'iban' | 'national_id' | 'secret' | 'personal';

export interface Span {
  start: number;
  end: number;
  label: Label;
}

export const uuid = /(?<![\p{L}\p{N}])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\p{L}\p{N}])/giu;

export function placeholder(label: Label): string {
  return `[redacted:${label}]`;
}

/** Returns every match of a global expression that `accept` confirms. `accept` may return a shorter length. */
export function matches(
  text: string,
  pattern: RegExp,
  label: Label,
  accept: (match: string, at: number) => boolean | number = () => true,
): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(pattern)) {
    const accepted = accept(match[0], match.index);
    if (accepted === false) continue;
    spans.push({ start: match.index, end: match.index + (accepted === true ? match[0].length : accepted), label });
  }
  return spans;
}

/** Replaces spans. Merges overlapping spans under the label of the first one in the list. */
export function replaceSpans(text: string, spans: readonly Span[]): string {
  const ranked = spans.map((span, rank) => ({ ...span, rank })).sort((a, b) => a.start - b.start || a.rank - b.rank);
  const merged: typeof ranked = [];
  for (const span of ranked) {
    const last = merged.at(-1);
    if (!last || span.start >= last.end) merged.push(span);
    else {
      last.end = Math.max(last.end, span.end);
      if (span.rank < last.rank) [last.rank, last.label] = [span.rank, span.label];
    }
  }
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, label } of merged) {
    parts.push(text.slice(at, start), placeholder(label));
    at = end;
  }
  return parts.join('') + text.slice(at);
}
