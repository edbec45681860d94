import neo4j, { type Node, type Path, type Record as Row, type Relationship } from 'neo4j-driver';
import { internalProperties } from '../store/names.js';
import type { Consumption } from '../store/provenance.js';
import { toJson, type Json, type JsonMap } from '../store/values.js';
import {
  entityView, factView, isEntity, isFact, isLink, relationshipView, type ContextAnswer, type EntityView, type FactView, type RelationshipView,
} from './views.js';

/** Elements of one kind for each row that an answer may hold, as a row may hold a whole list of them. */
const elementsPerRow = 10;
const maxBytes = 4 * 1024 * 1024;

export interface Collector {
  /** False when the answer is full; the row is then not taken. */
  add(row: Row): boolean;
  answer(truncated: boolean): ContextAnswer;
}

/** Gathers rows as JSON, and the entities, relationships and facts that are anywhere in them, in the order they come. */
export function createCollector(limit: number, consumed: Consumption): Collector {
  const entities = new Map<string, EntityView>();
  const relationships = new Map<string, RelationshipView>();
  const facts = new Map<string, FactView>();
  const rows: JsonMap[] = [];
  const most = limit * elementsPerRow;
  let bytes = 0;
  let cut = false;

  function keep<T>(into: Map<string, T>, key: string, view: T): void {
    if (into.size >= most) cut = true;
    else {
      bytes += JSON.stringify(view).length;
      into.set(key, view);
    }
  }

  /** An element's view is made once, however many rows hold it. */
  const inRows = new Map<string, Json>();
  function once(elementId: string, make: () => Json): Json {
    const known = inRows.get(elementId);
    if (known !== undefined) return known;
    const made = make();
    inRows.set(elementId, made);
    return made;
  }

  function node(found: Node): Json {
    return once(found.elementId, () => {
      if (isFact(found)) {
        const fact = factView(found, consumed);
        keep(facts, found.elementId, fact);
        return inRow(fact);
      }
      // The order of the query is the ranking; scores follow when all are known.
      const entity = entityView(found, 0, consumed);
      if (isEntity(found)) keep(entities, found.elementId, entity);
      return inRow(entity);
    });
  }

  function relationship(found: Relationship): Json {
    return once(found.elementId, () => {
      const view = relationshipView(found, consumed);
      if (!isLink(found)) keep(relationships, found.elementId, view);
      return inRow(view);
    });
  }

  function json(value: unknown): Json {
    if (typeof value !== 'object' || value === null) return toJson(value);
    if (neo4j.isNode(value)) return node(value);
    if (neo4j.isRelationship(value)) return relationship(value);
    if (neo4j.isPath(value)) return path(value);
    if (Array.isArray(value)) return value.map(json);
    if (Object.getPrototypeOf(value) !== Object.prototype) return toJson(value);
    // `properties(n)` and `n {.*}` give the properties that are ours as well.
    const shown = Object.entries(value).filter(([name]) => !internalProperties.has(name));
    return Object.fromEntries(shown.map(([name, each]) => [name, json(each)]));
  }

  function path({ start, segments }: Path): Json {
    return [node(start), ...segments.flatMap((segment) => [relationship(segment.relationship), node(segment.end)])];
  }

  return {
    add(row) {
      const made = Object.fromEntries(row.keys.map((key) => [String(key), json(row.get(key))]));
      bytes += JSON.stringify(made).length;
      if (bytes > maxBytes) return false;
      rows.push(made);
      return true;
    },
    answer(truncated) {
      const ranked = [...entities.values()].map((entity, rank) => ({ ...entity, score: Number((1 / (1 + rank)).toFixed(6)) }));
      return { entities: ranked, relationships: [...relationships.values()], facts: [...facts.values()], rows, limit, truncated: truncated || cut };
    },
  };
}

/** In a row an element stands without what the lists of the answer say of it. */
function inRow({ provenance: _provenance, score: _score, ...view }: { provenance: unknown; score?: number }): Json {
  return view as Json;
}
