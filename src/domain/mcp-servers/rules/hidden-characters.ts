import { isJsonObject } from '../../../base/json.js';

const maxDepth = 64;

/**
 * Characters that a person does not see but a model reads: controls, zero-width and bidirectional characters, tags,
 * variation selectors, fillers, private use.
 */
const hiddenCharacter = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u2800]/u;

/** The signs of Indic scripts that remove a vowel. They need a joiner or a non-joiner for some forms (RFC 5892, A.1, A.2). */
const viramas = '\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA';

/** The hidden characters that the visible text around them needs. Each is allowed once, and only there. */
const needed = new RegExp(
  [
    String.raw`[\t\n\r]`,
    // One selector for the presentation of an emoji.
    String.raw`(?<=[\p{S}\p{N}#*])[\uFE0E\uFE0F]`,
    // A joiner between two pictographs (UTS 51, emoji zwj sequences).
    String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\uFE0F?)\u200D(?=\p{Extended_Pictographic})`,
    // A non-joiner between two Arabic letters, which Persian writes within words (RFC 5892, A.1).
    String.raw`(?<=(?=\p{L})\p{Script=Arabic}\p{M}{0,4})\u200C(?=\p{L})(?=\p{Script=Arabic})`,
    `(?<=[${viramas}])[\u200C\u200D]`,
    `\u200D(?=[${viramas}])`,
    // The flags of England, Scotland and Wales, the only tag sequences that Unicode recommends.
    `(?<=\u{1F3F4})\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}`,
  ].join('|'),
  'gu',
);

/** Returns where a value, or the name of one of its fields, contains a hidden character that its text does not need. */
export function hiddenCharacterIn(value: unknown, path: readonly string[]): string | undefined {
  if (path.length > maxDepth) return `the definition is nested more than ${maxDepth} levels deep`;
  if (typeof value === 'string') {
    const found = hiddenCharacter.exec(value.replace(needed, ''));
    if (!found) return undefined;
    const code = found[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    const before = [...found.input.slice(0, found.index)].slice(-20).join('');
    const place = before === '' ? 'at its beginning' : `after ${JSON.stringify(before)}`;
    return `${path.join('.')}: contains the hidden character U+${code} ${place}`;
  }
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.map((each, at) => [String(at), each])
    : isJsonObject(value)
      ? Object.entries(value)
      : [];
  for (const [name, member] of entries) {
    const found = hiddenCharacterIn(name, [...path, 'a field name']) ?? hiddenCharacterIn(member, [...path, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}
