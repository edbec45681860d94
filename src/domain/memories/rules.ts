import {
  count,
  flag,
  freeText,
  integer,
  text,
  textFacts,
  type Operation,
} from '../../governance/operations/operation.js';
import { cutPosition } from '../../base/text.js';
import { AppError } from '../../base/errors.js';
import type { MemoryDocument, TextRange, Turn } from './record.js';

export const rememberRules: Operation = {
  name: 'remember',
  grant: 'svc:ontology.write',
  effect: 'write',
  changesContext: true,
  facts: { source: freeText('source'), turns: count('turns'), budget: integer('budget'), review: flag('review') },
};

/** A decision about a memory, also through the inbox. Reading one needs less. */
export const memoryRules: Operation = {
  name: 'memory',
  grant: 'svc:ontology.write',
  right: ['decide'],
  effect: 'write',
  changesContext: { when: 'context.input.operation == "approve"' },
  facts: { operation: text('operation'), memory_id: text('memory_id'), decides_own: flag('decides_own') },
};

/** Who asked for the text to be remembered. */
export function askersOfMemory({ user_id }: Pick<MemoryDocument, 'user_id'>): string[] {
  return [user_id];
}

export const undoMergeRules: Operation = {
  name: 'undo-merge',
  grant: 'svc:ontology.write',
  effect: 'write',
  changesContext: true,
  facts: textFacts('merge_id'),
};

export const memoryBounds = { characters: 200_000, turns: 2000, budget: 1_000_000 };
/** A document with more turns than this would not fit into a record, which MongoDB limits to 16 MiB. */
export const documentBounds = { characters: 2_000_000, turns: 20_000 };

/** @throws AppError `invalid_input` */
export function refuseOverlong(
  turns: readonly Pick<Turn, 'text'>[],
  most: Pick<typeof memoryBounds, 'characters' | 'turns'> = memoryBounds,
): void {
  const characters = turns.reduce((sum, { text }) => sum + text.length, 0);
  if (characters > most.characters)
    throw new AppError('invalid_input', `text: has ${characters} characters; at most ${most.characters} are allowed`);
  if (turns.length > most.turns)
    throw new AppError('invalid_input', `text: has ${turns.length} sections; at most ${most.turns} are allowed`);
}

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
      const end = start + cutPosition(turn.text.slice(start), partSize);
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
