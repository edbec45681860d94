import { z } from 'zod';
import type { MemoryStatus } from '../../../workflows/remember/messages.js';
import type { Authority, Maker } from '../../auth/authority.js';
import type { FoundPart, SavedPart } from '../../graph/memory/part.js';
import { exampleId, Id } from '../../base/ids.js';
import { defineCollection, expiring } from '../../stores/collections.js';
import { ListQuery } from '../../stores/lists.js';
import { EpochSeconds } from '../../base/time.js';

/** The characters of a text, or of one turn, that belong to a part. `turn` is null for a text without turns. */
export interface TextRange {
  turn: number | null;
  start: number;
  end: number;
}

/** `at` is in epoch seconds. */
export interface Turn {
  speaker: string | null;
  text: string;
  at: number;
}

/** A text or conversation whose facts are extracted. Times are epoch seconds. */
export interface MemoryDocument {
  _id: string;
  project_id: string;
  organization_id: string;
  /** The person who requested it, in whose name its facts are written. */
  user_id: string;
  /** What that person's credential allowed. */
  authority: Authority;
  /** The digest of the request. A repeated key with another body is refused. */
  digest: string;
  source: string | null;
  /** Sealed JSON of the turns. A text is one turn without a speaker. */
  turns: { sealed: string };
  is_conversation: boolean;
  parts: TextRange[][];
  entity_types: string[] | null;
  model: string;
  /** In credits; null without a limit. */
  budget: number | null;
  review: { asked_at: number; until: number } | null;
  wants_review: boolean;
  status: MemoryStatus;
  failure: string | null;
  decided_by: string | null;
  created_at: number;
  ended_at: number | null;
  /** Set when it ends, if memories are kept for a limited time. */
  expires_at?: Date;
  /** When it began to wait for a person or ended, in epoch milliseconds. */
  changed_at?: number;
}

/** What one model turn cost. */
export interface PartCost {
  credits: number;
  input_tokens: number;
  output_tokens: number;
}

/** `_id` is `<memory>:<part>`. */
export interface MemoryPartDocument {
  _id: string;
  memory_id: string;
  part: number;
  /** The cost of each attempt that the model answered, by the number of the attempt. */
  attempts: Record<string, PartCost>;
  /** Sealed JSON of a FoundPart; null until an attempt succeeded. */
  found: { sealed: string } | null;
  is_extracted: boolean;
  counts: FoundCounts;
  saved: SavedPart | null;
  expires_at?: Date;
}

export interface PartToSave {
  memoryId: string;
  part: number;
  source: string | null;
  found: FoundPart;
}

/** Writes a part as a governed save-context of the person (`createSavePartAsPerson`). */
export type SavePartAsPerson = (maker: Maker, part: PartToSave, signal: AbortSignal) => Promise<SavedPart>;

const Count = z.int().meta({ example: 2 });

const FoundCounts = z.object({
  entities: Count,
  facts: Count,
  without_span: Count,
  outside_ontology: Count,
  wrong_time: Count,
  beyond_limit: Count,
});
type FoundCounts = z.infer<typeof FoundCounts>;

/** A part that no model has read yet. */
export const nothingFound: FoundCounts = {
  entities: 0,
  facts: 0,
  without_span: 0,
  outside_ontology: 0,
  wrong_time: 0,
  beyond_limit: 0,
};

/** The counts of a part that wrote nothing. */
export const nothingWritten = {
  ...{ entities: 0, facts: 0, relationships: 0, closed: 0, dropped: 0, ended: 0, unchanged: 0, ambiguous: 0 },
};

export const MemoryView = z
  .object({
    memory_id: Id,
    status: z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'rejected']),
    source: z.string().nullable().meta({ example: 'interview' }),
    failure: z.string().nullable().meta({ example: null }),
    parts: z.object({ total: Count, extracted: Count, written: Count }),
    found: FoundCounts.describe(
      'Items without a span, outside the ontology, with a time that cannot be read or beyond the first 300 are dropped.',
    ),
    written: z.object({
      ...{ entities: Count, facts: Count, relationships: Count, closed: Count, dropped: Count },
      ended: Count.describe('Known facts that got an earlier end, as the text states it.'),
      unchanged: Count.describe('Facts that were known.'),
      ambiguous: Count.describe('Mentions that are dropped because several known entities have their name.'),
    }),
    retries: Count.meta({ example: 0 }),
    cost: z.object({
      credits: z.number().meta({ example: 1.2 }),
      budget: z.number().nullable().meta({ example: 10 }),
      input_tokens: Count.meta({ example: 900 }),
      output_tokens: Count.meta({ example: 300 }),
    }),
    merge_count: Count.meta({ example: 0 }),
    merges: z
      .array(z.object({ merge_id: z.string(), entity_id: Id, type: z.string(), name: z.string(), mention: z.string() }))
      .describe('The first 200 mentions merged with earlier entities; `undo-merge` separates one.'),
    created_at: EpochSeconds,
    ended_at: EpochSeconds.nullable(),
  })
  .meta({
    id: 'Memory',
    example: {
      memory_id: exampleId,
      status: 'completed',
      source: 'interview',
      failure: null,
      parts: { total: 1, extracted: 1, written: 1 },
      found: { ...nothingFound, entities: 2, facts: 2, without_span: 1 },
      written: { ...nothingWritten, entities: 2, facts: 2, closed: 1 },
      retries: 0,
      cost: { credits: 1.2, budget: 10, input_tokens: 900, output_tokens: 300 },
      merge_count: 0,
      merges: [],
      created_at: 1764000000.5,
      ended_at: 1764000009.5,
    },
  });
export type MemoryView = z.infer<typeof MemoryView>;

/** A memory in a list. Reading it alone also shows its merges. */
export const MemoryListItem = MemoryView.omit({ merges: true }).meta({ id: 'MemoryListItem' });

export const MemoryQuery = ListQuery.extend({ status: MemoryView.shape.status.optional() });

export const memoriesCollection = defineCollection('memories', {
  indexes: [
    { keys: { project_id: 1, status: 1, 'review.asked_at': -1, _id: -1 } },
    { keys: { project_id: 1, created_at: -1, _id: -1 } },
    { keys: { project_id: 1, status: 1, created_at: -1, _id: -1 } },
    expiring,
    { keys: { project_id: 1, changed_at: 1 } },
    { keys: { status: 1, _id: 1 } },
  ],
});
export const memoryPartsCollection = defineCollection('memory_parts', {
  indexes: [{ keys: { memory_id: 1, part: 1 } }, expiring],
});

declare module '../../stores/collections.js' {
  interface Documents {
    memories: MemoryDocument;
    memory_parts: MemoryPartDocument;
  }
}
