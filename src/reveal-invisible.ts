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
