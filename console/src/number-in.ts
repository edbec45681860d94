/**
 * Returns the number in a text. Any other text stays as it is, so that the API refuses it, and so does an integer that
 * JavaScript would round.
 */
export function numberIn(text: string): number | string {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) return text;
  const isInteger = /^\s*[+-]?\d+\s*$/.test(text);
  return isInteger && BigInt(text) !== BigInt(number) ? text : number;
}
