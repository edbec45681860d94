import type { FactObject } from '../store/reconcile.js';
import type { Span } from '../store/provenance.js';
import type { JsonMap } from '../store/values.js';

export interface Mention {
  type: string;
  name: string;
}

export interface MentionedEntity extends Mention {
  /** The other names of the entity in the text. */
  aliases: string[];
  properties: JsonMap;
  /** The characters that name it. */
  spans: Span[];
}

/** A fact that a model found. Times are epoch seconds. */
export interface FoundFact {
  subject: Mention;
  predicate: string;
  object: FactObject | Mention;
  valid_from: number;
  valid_to: number | null;
  span: Span;
}

/** The findings of a model in one part of a text. `entities` contains the subjects and objects of the facts. */
export interface FoundPart {
  entities: MentionedEntity[];
  facts: FoundFact[];
}

/**
 * A mention that was merged with an existing entity of the graph. `merge_id` identifies the merge, so that it can be
 * undone.
 */
export interface MergedMention {
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
  /** The numbers of new relationships, and of facts that got an earlier end or were known. */
  relationships: number;
  ended: number;
  unchanged: number;
  /** The number of mentions that are dropped because several known entities have their name. */
  ambiguous: number;
  /** The number of facts that end where a new one begins. */
  closed: number;
  /** The number of findings that do not match the ontology at the time of writing. */
  dropped: number;
  merges: MergedMention[];
}
