const marks = [['\n\n'], ['. ', '! ', '? ', '.\n', '。', '！', '？'], ['\n'], [' ']];

/**
 * Returns the position after the last paragraph, sentence, line or word that ends in the second half of `maxLength`
 * characters; otherwise, a position that does not split a surrogate pair.
 */
export function cutPosition(text: string, maxLength: number): number {
  if (text.length <= maxLength) return text.length;
  const head = text.slice(0, maxLength);
  for (const ends of marks) {
    const at = Math.max(...ends.map((end) => (head.includes(end) ? head.lastIndexOf(end) + end.length : 0)));
    if (at > maxLength / 2) return at;
  }
  return /[\uD800-\uDBFF]$/.test(head) ? maxLength - 1 : maxLength;
}

const invisible = /(?![\t\n])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * Writes control, bidirectional and invisible characters as their code points, for example `<U+202E>`, so that a person
 * sees everything that a program receives. Tabs and line feeds stay.
 */
export function revealInvisible(text: string): string {
  return text.replace(
    invisible,
    (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`,
  );
}

/** `agent_started` becomes `AgentStarted`. */
export function pascalCase(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/**
 * Returns the text without that character at its end, in linear time. A regular expression such as `/\/+$/` takes
 * quadratic time.
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}

/** Returns the source of a regular expression that matches exactly this text. `RegExp.escape` needs Node.js 24. */
export function literalPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
