/**
 * Returns the text without that character at its end, in linear time. A regular expression such as `/\/+$/` takes
 * quadratic time.
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
