import { z } from 'zod';
import { saveBounds, Time } from '../../graph/save/input.js';
import { derivedId, TypeName } from '../../graph/store/names.js';
import { defineOperation } from '../operation.js';
import { epochSeconds } from '../../base/time.js';
import { checkMemory, startMemory, turnsOfText, type NewMemory } from '../memories/operations.js';
import { MemoryView } from '../memories/record.js';
import { memoryBounds, refuseOverlong, rememberRules } from '../memories/rules.js';

const text = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .refine((value) => value.isWellFormed(), 'contains an incomplete character');

const TurnInput = z.strictObject({ speaker: text(200), text: text(saveBounds.valueLength), at: Time.optional() });

const Input = z
  .strictObject({
    text: text(memoryBounds.characters).optional(),
    turns: z.array(TurnInput).min(1).max(memoryBounds.turns).optional().describe('A conversation, instead of `text`.'),
    source: z.string().trim().min(1).max(300).optional(),
    at: Time.optional().describe('When it was said. Default: now.'),
    entity_types: z.array(TypeName).min(1).max(300).optional().describe('Only these types of the ontology.'),
    budget: z.number().min(0).max(memoryBounds.budget).optional().describe('In credits.'),
    review: z.boolean().default(false).describe('A person approves what was found before it is written.'),
  })
  .refine(({ text: whole, turns }) => (whole === undefined) !== (turns === undefined), 'needs either `text` or `turns`')
  .meta({
    id: 'Remember',
    example: { text: 'Acme moved its headquarters to Paris.', source: 'press release', at: '2026-03-01T00:00:00Z' },
  });

/** Extracts the facts of a text in the background (docs/guides/remember.md). */
export const remember = defineOperation({
  ...rememberRules,
  tool: {
    title: 'Remember a text',
    description:
      'Extracts entities and facts from a text or conversation into the context graph, in the background. Follow it with memory.',
    hints: { readOnly: false, destructive: false, idempotent: false },
  },
  accepted: true,
  input: Input,
  output: z.object({ memory: MemoryView }).meta({ id: 'RememberAnswer' }),
  resource: () => ({ type: 'memory', id: '*' }),
  async prepare({ deps, ctx, input }) {
    const { text: whole, turns = [], source, at = epochSeconds(), entity_types, budget, review } = input;
    const memory: NewMemory = {
      turns: whole === undefined ? turns.map((turn) => ({ ...turn, at: turn.at ?? at })) : turnsOfText(whole, at),
      is_conversation: whole === undefined,
      source: source ?? null,
      entity_types: entity_types ?? null,
      budget: budget ?? null,
      review,
    };
    refuseOverlong(memory.turns);
    await checkMemory(deps, ctx.principal, memory);
    return memory;
  },
  dryRun: async ({ prepared: { turns, review } }) => ({ remember: { turns: turns.length, review } }),
  async run({ deps, ctx: { principal, idempotencyKey, recordId }, prepared: memory }) {
    const { projectId, userId } = principal;
    const id = idempotencyKey === undefined ? recordId : derivedId('memory', projectId, userId, idempotencyKey);
    return { memory: await startMemory(deps, principal, id, memory) };
  },
});
