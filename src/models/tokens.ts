/** About four characters a token, so that accounting has numbers of the usual size where nobody counts. */
export function estimatedTokens(characters: number): number {
  return Math.ceil(characters / 4);
}
