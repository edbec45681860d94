/** Neo4j cannot index a key of more than 8 KB, and NFKC can make a name 18 times longer. */
const maxLength = 500;

/**
 * Returns the same text for names that differ only in case, white space, invisible characters or Unicode form. It is the
 * key of lookups by name; a name is stored as it was written, in NFC.
 */
export function foldedName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ς', 'σ')
    .normalize('NFKC')
    .replace(/\p{White_Space}+/gu, ' ')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, maxLength);
}

/** Returns the key of an entity within its project for lookups by name. The type is exact. */
export function foldedKey({ type, name }: { type: string; name: string }): string {
  return JSON.stringify([type, foldedName(name)]);
}
