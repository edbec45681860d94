import neo4j, { type Node, type Path, type Record as Row, type Relationship } from 'neo4j-driver';
import { internalProperties } from '../store/names.js';
import type { Consumption } from '../store/provenance.js';
import { toJson, type Json, type JsonMap } from '../store/values.js';
import {
  answerCharacters, entityView, factView, isEntity, isFact, isLink, relationshipView, type ContextAnswer, type EntityView, type FactView, type RelationshipView,
} from './views.js';

/** Elements of one kind for each row that an answer may hold, as a row may hold a whole list of them. */
const elementsPerRow = 10;

export interface Collector {
  /** False when the answer is full; the row is then not taken. */
  add(row: Row): boolean;
  answer(truncated: boolean): ContextAnswer;
}

interface Elements {
  /** As they stand in a row. */
  node(found: Node): Json;
  relationship(found: Relationship): Json;
  /** Characters of JSON in the lists. */
  size(): number;
  /** There were more than fit. */
  isCut(): boolean;
  lists(): Pick<ContextAnswer, 'entities' | 'relationships' | 'facts'>;
}

/** The entities, relationships and facts of an answer, `most` of each; a view is made once, however many rows hold it. */
function createElements(most: number, consumed: Consumption): Elements {
  const entities = new Map<string, EntityView>();
  const relationships = new Map<string, RelationshipView>();
  const facts = new Map<string, FactView>();
  const inRows = new Map<string, Json>();
  let size = 0;
  let cut = false;

  function kept<T extends { provenance: unknown }>(into: Map<string, T> | undefined, elementId: string, view: T): Json {
    if (into && into.size >= most) cut = true;
    else if (into) {
      size += JSON.stringify(view).length;
      into.set(elementId, view);
    }
    const shown = inRow(view);
    inRows.set(elementId, shown);
    return shown;
  }

  return {
    node(found) {
      const id = found.elementId;
      if (isFact(found)) return inRows.get(id) ?? kept(facts, id, factView(found, consumed));
      // The order of the query is the ranking; scores follow when all are known.
      return inRows.get(id) ?? kept(isEntity(found) ? entities : undefined, id, entityView(found, 0, consumed));
    },
    relationship(found) {
      const id = found.elementId;
      return inRows.get(id) ?? kept(isLink(found) ? undefined : relationships, id, relationshipView(found, consumed));
    },
    size: () => size,
    isCut: () => cut,
    lists() {
      const ranked = [...entities.values()].map((entity, rank) => ({ ...entity, score: Number((1 / (1 + rank)).toFixed(6)) }));
      return { entities: ranked, relationships: [...relationships.values()], facts: [...facts.values()] };
    },
  };
}

/** In a row an element stands without what the lists of the answer say of it. */
function inRow({ provenance: _provenance, score: _score, ...view }: { provenance: unknown; score?: number }): Json {
  return view;
}

/** Gathers rows as JSON, and the entities, relationships and facts that are anywhere in them, in the order they come. */
export function createCollector(limit: number, consumed: Consumption): Collector {
  const elements = createElements(limit * elementsPerRow, consumed);
  const rows: JsonMap[] = [];
  let size = 0;

  function json(value: unknown): Json {
    if (typeof value !== 'object' || value === null) return toJson(value);
    if (neo4j.isNode(value)) return elements.node(value);
    if (neo4j.isRelationship(value)) return elements.relationship(value);
    if (neo4j.isPath(value)) return path(value);
    if (Array.isArray(value)) return value.map(json);
    if (Object.getPrototypeOf(value) !== Object.prototype) return toJson(value);
    // `properties(n)` and `n {.*}` give the properties that are ours as well.
    const shown = Object.entries(value).filter(([name]) => !internalProperties.has(name));
    return Object.fromEntries(shown.map(([name, each]) => [name, json(each)]));
  }

  function path({ start, segments }: Path): Json {
    return [elements.node(start), ...segments.flatMap(({ relationship, end }) => [elements.relationship(relationship), elements.node(end)])];
  }

  return {
    add(row) {
      const made = Object.fromEntries(row.keys.map((key) => [String(key), json(row.get(key))]));
      size += JSON.stringify(made).length;
      if (size + elements.size() > answerCharacters) return false;
      rows.push(made);
      return true;
    },
    answer: (truncated) => ({ ...elements.lists(), rows, limit, truncated: truncated || elements.isCut() }),
  };
}
