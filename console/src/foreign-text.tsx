import { revealInvisible } from '@service/base/text.js';

/** A text that an agent, a server or a document wrote: its characters are all visible, and it stays in its own direction. */
export function ForeignText({ text }: { text: string | null }) {
  return <bdi>{revealInvisible(text ?? '')}</bdi>;
}
