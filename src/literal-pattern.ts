/** Returns the source of a regular expression that matches exactly this text. `RegExp.escape` needs Node.js 24. */
export function literalPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
