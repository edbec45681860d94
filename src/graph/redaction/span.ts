/** What a detector finds; `label` is what stands in its place: `[redacted:email]`. */
export type Label = 'email' | 'phone' | 'card' | 'iban' | 'national_id' | 'secret' | 'personal';

export interface Span {
  start: number;
  end: number;
  label: Label;
}

export function placeholder(label: Label): string {
  return `[redacted:${label}]`;
}

/** Every match of a global expression that `accept` confirms; `accept` may shorten a match by answering its length. */
export function matches(text: string, pattern: RegExp, label: Label, accept: (match: string, at: number) => boolean | number = () => true): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(pattern)) {
    const accepted = accept(match[0], match.index);
    if (accepted === false) continue;
    spans.push({ start: match.index, end: match.index + (accepted === true ? match[0].length : accepted), label });
  }
  return spans;
}

/** Replaces spans, the earlier in the list winning where they meet. */
export function replaceSpans(text: string, spans: readonly Span[]): string {
  const kept: Span[] = [];
  for (const span of spans) if (!kept.some((other) => span.start < other.end && other.start < span.end)) kept.push(span);
  kept.sort((a, b) => a.start - b.start);
  let result = '';
  let at = 0;
  for (const { start, end, label } of kept) {
    result += text.slice(at, start) + placeholder(label);
    at = end;
  }
  return result + text.slice(at);
}
