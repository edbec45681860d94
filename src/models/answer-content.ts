import { withPiece } from './echo.js';
import { createThinkingFilter, readContent } from './thinking.js';

/** Collects the content of an answer, which is a text or a list of parts, and passes on its text without thinking. */
export function collectContent(listener: ((text: string) => void) | undefined) {
  let text = '';
  let thinking = '';
  let parts: unknown[] | undefined;
  const onText = listener && createThinkingFilter(listener);
  return {
    /** @param isWhole the value is the complete content, with which some endpoints end a stream */
    add(value: unknown, isWhole: boolean): void {
      const piece = readContent(value);
      if (piece.hasParts || parts) {
        parts ??= text === '' ? [] : [{ type: 'text', text }];
        const added = typeof value === 'string' ? [{ type: 'text', text: value }] : value;
        parts = withPiece(parts, Array.isArray(added) ? added : [added]) as unknown[];
      }
      thinking += piece.thinking;
      const isRepeated = isWhole && text !== '' && piece.text.startsWith(text);
      const words = isRepeated ? piece.text.slice(text.length) : piece.text;
      text += words;
      if (words !== '') onText?.(words);
    },
    text: () => text,
    /** The thinking in its parts. */
    thinking: () => thinking,
    /** The content as it came, if it is not only text. */
    parts: () => parts,
  };
}
