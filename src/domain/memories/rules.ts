import {
  count,
  flag,
  freeText,
  integer,
  text,
  textFacts,
  type Operation,
} from '../../governance/operations/operation.js';
import type { TextRange, Turn } from './record.js';

export const rememberRules: Operation = {
  name: 'remember',
  grant: 'svc:ontology.write',
  effect: 'write',
  facts: { source: freeText('source'), turns: count('turns'), budget: integer('budget'), review: flag('review') },
};

/** Reading a memory and deciding about it, also through the inbox. */
export const memoryRules: Operation = {
  name: 'memory',
  grant: ({ operation }) => (operation === 'get' ? 'svc:query.read' : 'svc:ontology.write'),
  effect: ({ operation }) => (operation === 'get' ? 'read' : 'write'),
  facts: { operation: text('operation'), memory_id: text('memory_id') },
};

export const undoMergeRules: Operation = {
  name: 'undo-merge',
  grant: 'svc:ontology.write',
  effect: 'write',
  facts: textFacts('merge_id'),
};

export const memoryBounds = { characters: 200_000, turns: 2000, budget: 1_000_000, documentCharacters: 2_000_000 };

/** Credits of one model turn: one for each 1000 tokens. */
export function creditsOf({ input_tokens, output_tokens }: { input_tokens: number; output_tokens: number }): number {
  return Math.round((input_tokens + output_tokens) * 1000) / 1e6;
}

/** The largest number of characters of a part. */
const partSize = 6000;

/** Splits turns into parts for one model turn each. Only a turn that is longer than a part is split, between sentences or words. */
export function partsOf(turns: readonly Pick<Turn, 'text'>[], isConversation: boolean): TextRange[][] {
  const parts: TextRange[][] = [];
  let current: TextRange[] = [];
  let size = 0;
  for (const [at, turn] of turns.entries()) {
    for (let start = 0; start < turn.text.length;) {
      const end = cutOf(turn.text, start);
      if (size > 0 && size + end - start > partSize) {
        parts.push(current);
        current = [];
        size = 0;
      }
      current.push({ turn: isConversation ? at : null, start, end });
      size += end - start;
      start = end;
    }
  }
  if (current.length > 0) parts.push(current);
  return parts;
}

/** After the last paragraph, sentence or word that fits; otherwise, where no surrogate pair is split. */
function cutOf(text: string, start: number): number {
  if (text.length - start <= partSize) return text.length;
  const head = text.slice(start, start + partSize);
  for (const mark of ['\n\n', '. ', '。', '\n', ' ']) {
    const at = head.lastIndexOf(mark);
    if (at > partSize / 2) return start + at + mark.length;
  }
  return start + (/[\uD800-\uDBFF]$/.test(head) ? partSize - 1 : partSize);
}
