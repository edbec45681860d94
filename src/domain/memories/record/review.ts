import { z } from 'zod';
import { PayloadView } from '../../../governance/approvals/record.js';
import { exampleId, Id } from '../../../base/ids.js';
import { listOf } from '../../../stores/lists.js';
import { EpochSeconds } from '../../../base/time.js';
import { MemoryView, nothingFound } from '../record.js';

const Value = z.union([z.string(), z.number(), z.boolean()]);
const Stated = z.object({ object: Value, valid_from: EpochSeconds, valid_to: EpochSeconds.nullable() });

const example = {
  ...{ kind: 'entity' as const, part: 0, type: 'Company', name: 'Acme', aliases: ['Acme Ltd'], properties: {} },
  ...{ joins: null, predicate: null, object: null, valid_from: null, valid_to: null, before: null },
  ...{ is_written: true, quote: 'Acme', not_in_quote: ['Acme Ltd'] },
};

/** One thing that approving a memory writes. Fields that a kind does not have are null or empty. */
export const ReviewStatement = z
  .object({
    kind: z
      .enum(['replacement', 'merge', 'entity', 'fact'])
      .describe(
        '`replacement`: a current fact ends or changes. `merge`: a mention joins an existing entity. `entity`: a new entity, or a further mention of one. `fact`: a new fact.',
      ),
    part: z.int().describe('The part of the text, counted from 0.'),
    type: z.string().nullable().describe('The type of the entity.').meta({ example: 'Company' }),
    name: z
      .string()
      .describe('The entity, or the subject of the fact, as the text names it.')
      .meta({ example: 'Acme' }),
    aliases: z.array(z.string()).describe('Other names that become names of the entity.'),
    properties: z.record(z.string(), z.unknown()).describe('The properties that are written to the entity.'),
    joins: z
      .object({ entity_id: z.string().nullable(), name: z.string() })
      .nullable()
      .describe('The entity that the mention is merged with. `entity_id` is null if this text adds that entity.'),
    predicate: z.string().nullable().meta({ example: 'headquarters' }),
    object: Value.nullable().meta({ example: 'Paris' }),
    valid_from: EpochSeconds.nullable(),
    valid_to: EpochSeconds.nullable(),
    before: Stated.nullable().describe('For a replacement: the current fact. The other fields say what follows it.'),
    is_written: z.boolean().describe('False if the ontology does not allow it any more, so that it is not written.'),
    quote: z.string().nullable().describe('The words of the text that say it.'),
    not_in_quote: z.array(z.string()).describe('The values that do not occur in the quote.'),
  })
  .meta({ id: 'ReviewStatement', example });
export type ReviewStatement = z.infer<typeof ReviewStatement>;

export const MemoryReview = listOf(ReviewStatement)
  .extend({
    memory_id: Id,
    source: MemoryView.shape.source,
    summary: z.string().meta({ example: 'Adds 2 entities and 3 facts; merges 1 mention with an existing entity.' }),
    found: MemoryView.shape.found,
    payload_digest: z
      .string()
      .describe(
        'The digest of everything that approving writes. Send it with the approval: if something changed, the answer is 409.',
      )
      .meta({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }),
    payload_view: PayloadView,
  })
  .meta({
    id: 'MemoryReview',
    example: {
      ...{ memory_id: exampleId, source: 'interview', found: { ...nothingFound, entities: 1, facts: 1 } },
      summary: 'Adds 1 entity and 0 facts.',
      payload_digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      payload_view: { is_redacted: false, has_hidden: false, is_shortened: false },
      data: [example],
      ...{ total_count: 1, next_cursor: null },
    },
  });
export type MemoryReview = z.infer<typeof MemoryReview>;
