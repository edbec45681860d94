import type { FactObject } from '../store/facts.js';
import type { Span } from '../store/provenance.js';
import type { JsonMap } from '../store/values.js';

export interface Mention {
  type: string;
  name: string;
}

export interface MentionedEntity extends Mention {
  /** Other names that the text gives the entity. */
  aliases: string[];
  properties: JsonMap;
}

/** Times are epoch seconds. */
export interface FoundFact {
  subject: Mention;
  predicate: string;
  object: FactObject | Mention;
  valid_from: number;
  valid_to: number | null;
  span: Span;
}

/** What a model found in one part of a text. Subjects and objects are mentioned in `entities`. */
export interface FoundPart {
  entities: MentionedEntity[];
  facts: FoundFact[];
}

/** A mention that was taken for an entity that the graph held before. `merge_id` undoes it. */
export interface Merge {
  merge_id: string;
  entity_id: string;
  type: string;
  /** The name of the entity in the graph, and the name in the text. */
  name: string;
  mention: string;
}

export interface SavedPart {
  entities: number;
  facts: number;
  /** Facts that end where a new one begins. */
  closed: number;
  /** What does not fit the ontology at the time of writing. */
  dropped: number;
  merges: Merge[];
}
