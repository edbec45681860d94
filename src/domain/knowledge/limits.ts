/** Describes to the owner of a document why it cannot be read. */
export class UnreadableDocument extends Error {
  override readonly name = 'UnreadableDocument';
}

/** A document that exceeds these limits is refused. */
export const extractionLimits = {
  characters: 20_000_000,
  chunks: 100_000,
  pages: 2000,
  htmlDepth: 500,
  openElements: 1000,
  /** The entries of a ZIP file, and the bytes of those that are unpacked. */
  zipEntries: 20_000,
  zipBytes: 256 * 1024 * 1024,
};

/** @throws UnreadableDocument */
export function refuseBeyond(characters: number): void {
  if (characters > extractionLimits.characters)
    throw new UnreadableDocument(`the text is longer than ${extractionLimits.characters} characters`);
}

/** The reason of a parser's error, for people. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : 'it is damaged';
}
