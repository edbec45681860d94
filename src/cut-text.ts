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
