import neo4j, { type Node, type Path, type Record as Row, type Relationship } from 'neo4j-driver';
import { weightOf } from '../redaction/redact.js';
import { internalProperties } from '../store/names.js';
import type { Consumption } from '../store/provenance.js';
import { toJson, type Json, type JsonMap } from '../store/values.js';
import {
  maxAnswerLength,
  toEntityView,
  toFactView,
  isEntity,
  isFact,
  isLink,
  toRelationshipView,
  type ContextAnswer,
  type EntityView,
  type FactView,
  type RelationshipView,
} from './views.js';

/** The maximum number of elements of one kind per row, because a row may contain a list of them. */
const elementsPerRow = 10;

/**
 * Collects the entities, relationships and facts of a response, at most `maxElements` of each kind. Creates each view
 * once, even if several rows contain it.
 */
function createElements(maxElements: number, consumed: Consumption) {
  const entities = new Map<string, EntityView>();
  const relationships = new Map<string, RelationshipView>();
  const facts = new Map<string, FactView>();
  const inRows = new Map<string, Json>();
  let size = 0;
  let cut = false;

  function kept<T extends { provenance: unknown }>(into: Map<string, T> | undefined, elementId: string, view: T): Json {
    if (into && into.size >= maxElements) cut = true;
    else if (into) {
      size += weightOf(view);
      into.set(elementId, view);
    }
    const rowView = inRow(view);
    inRows.set(elementId, rowView);
    return rowView;
  }

  return {
    /** Converts an element to the form that a row contains. */
    node(found: Node): Json {
      const id = found.elementId;
      if (isFact(found)) return inRows.get(id) ?? kept(facts, id, toFactView(found, consumed));
      // The order of the query is the ranking. `lists` computes the scores at the end.
      return inRows.get(id) ?? kept(isEntity(found) ? entities : undefined, id, toEntityView(found, 0, consumed));
    },
    relationship(found: Relationship): Json {
      const id = found.elementId;
      return inRows.get(id) ?? kept(isLink(found) ? undefined : relationships, id, toRelationshipView(found, consumed));
    },
    size: () => size,
    /** Returns whether elements were omitted. */
    isCut: () => cut,
    lists(): Pick<ContextAnswer, 'entities' | 'relationships' | 'facts'> {
      const ranked = [...entities.values()].map((entity, rank) => ({
        ...entity,
        score: Number((1 / (1 + rank)).toFixed(6)),
      }));
      return { entities: ranked, relationships: [...relationships.values()], facts: [...facts.values()] };
    },
  };
}

/** Returns the view of an element in a row, without the fields that only the lists contain. */
function inRow({ provenance: _provenance, score: _score, ...view }: { provenance: unknown; score?: number }): Json {
  return view;
}

/** Returns the element with numbers of JavaScript. Its stored integers are never larger. */
function withNumbers<T extends Node | Relationship>(element: T): T {
  const properties = Object.entries(element.properties as object).map(([name, value]: [string, unknown]) => [
    name,
    Array.isArray(value) ? value.map(numberOf) : numberOf(value),
  ]);
  return Object.assign(Object.create(Object.getPrototypeOf(element) as object) as T, element, {
    properties: Object.fromEntries(properties) as object,
  });
}

function numberOf(value: unknown): unknown {
  return neo4j.isInt(value) && value.inSafeRange() ? value.toNumber() : value;
}

/** Collects rows as JSON, and all entities, relationships and facts in them, in order of appearance. */
export function createCollector(limit: number, consumed: Consumption) {
  const elements = createElements(limit * elementsPerRow, consumed);
  const rows: JsonMap[] = [];
  let size = 0;

  function json(value: unknown): Json {
    if (typeof value !== 'object' || value === null) return toJson(value);
    if (neo4j.isNode(value)) return elements.node(withNumbers(value));
    if (neo4j.isRelationship(value)) return elements.relationship(withNumbers(value));
    if (neo4j.isPath(value)) return path(value);
    if (Array.isArray(value)) return value.map(json);
    if (Object.getPrototypeOf(value) !== Object.prototype) return toJson(value);
    // `properties(n)` and `n {.*}` also return internal properties.
    const visible = Object.entries(value).filter(([name]) => !internalProperties.has(name));
    return Object.fromEntries(visible.map(([name, each]) => [name, json(each)]));
  }

  function path({ start, segments }: Path): Json {
    return [
      elements.node(withNumbers(start)),
      ...segments.flatMap(({ relationship, end }) => [
        elements.relationship(withNumbers(relationship)),
        elements.node(withNumbers(end)),
      ]),
    ];
  }

  return {
    /** Returns false and ignores the row if the response is full. */
    add(row: Row): boolean {
      const made = Object.fromEntries(row.keys.map((key) => [String(key), json(row.get(key))]));
      size += weightOf(made);
      if (size + elements.size() > maxAnswerLength) return false;
      rows.push(made);
      return true;
    },
    answer: (truncated: boolean): ContextAnswer => ({
      ...elements.lists(),
      rows,
      limit,
      truncated: truncated || elements.isCut(),
    }),
  };
}
