/** Estimates about four characters per token, for endpoints that do not report usage. */
export function estimatedTokens(characters: number): number {
  return Math.ceil(characters / 4);
}
