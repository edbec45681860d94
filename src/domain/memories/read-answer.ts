import { z } from 'zod';
import { graphName } from '../../graph/graph-text.js';
import type { FoundFact, FoundPart, Mention, MentionedEntity } from '../../graph/memory/part.js';
import { checkEntity } from '../../graph/ontology/check.js';
import type { OntologyDefinition } from '../../graph/ontology/definition.js';
import { PropertyValue, saveBounds } from '../../graph/save/input.js';
import { foldedName } from '../../graph/store/folded-name.js';
import { nameKey, PropertyName } from '../../graph/store/names.js';
import type { Span } from '../../graph/store/provenance.js';
import { startBefore } from '../../graph/store/validity.js';
import type { Json, JsonMap } from '../../graph/store/values.js';
import { isJsonObject, parseJsonOrUndefined, jsonObjectsIn } from '../../base/json.js';
import { unusableAnswer } from '../../models/endpoint-failure.js';
import type { ChatCompletion } from '../../models/port.js';
import { quoteFinder } from './find-quote.js';
import { modelTime } from './model-time.js';
import { nothingFound, type MemoryPartDocument } from './record.js';

/** A piece of the text as the model read it. `start` is its position in the text or turn. */
export interface ReadPiece {
  turn: number | null;
  start: number;
  text: string;
  /** Epoch seconds: when it was said. */
  at: number;
}

const maxItems = 300;
const short = z.string().trim().min(1).max(500);
const quote = z.string().trim().min(1).max(10_000);
const time = z.unknown().optional();
const EntityItem = z.object({
  type: z.string(),
  name: short,
  aliases: z.array(short).max(20).nullish().catch(null),
  properties: z.record(z.string(), z.unknown()).nullish().catch(null),
  quote,
});
const FactItem = z.object({
  subject: short,
  predicate: z.string().trim().min(1).max(200),
  object: z.union([z.string().trim().min(1).max(10_000), z.number(), z.boolean()]),
  quote,
  valid_from: time,
  valid_to: time,
});
const RelationshipItem = z.object({
  from: short,
  type: z.string(),
  to: short,
  quote,
  valid_from: time,
  valid_to: time,
});

interface Found extends FoundPart {
  counts: MemoryPartDocument['counts'];
}

/**
 * The part of a model's answer that the text and the ontology support. Counts the rest: what has no span in the text, what
 * the ontology does not allow, what names a time that does not exist, and what exceeds the maximum number of items.
 * @throws OutboundError `model_answer_unusable` for an answer that is not a JSON object
 */
export function readAnswer(
  completion: Pick<ChatCompletion, 'tool_calls' | 'content'>,
  memoryId: string,
  pieces: readonly ReadPiece[],
  ontology: OntologyDefinition,
): Found {
  const answer = objectIn(completion);
  const counts = { ...nothingFound };
  const spanOf = spanFinder(memoryId, pieces);
  const mentions = new Map<string, MentionedEntity>();
  const facts: FoundFact[] = [];
  const drop = (reason: Reason) => void (counts[reason] += 1);
  /** Why the entities that were dropped are missing. What is said about them is missing for the same reason. */
  const dropped = new Map<string, Reason>();
  const reasonFor = (name: string): Reason => dropped.get(foldedName(graphName(name))) ?? 'outside_ontology';
  const itemsOf = (value: unknown): unknown[] => {
    const items: unknown[] = Array.isArray(value) ? value : [];
    counts.beyond_limit += Math.max(0, items.length - maxItems);
    return items.slice(0, maxItems);
  };

  for (const item of itemsOf(answer.entities)) {
    const { data } = EntityItem.safeParse(item);
    const isKnownType = data !== undefined && Object.hasOwn(ontology.entity_types, data.type);
    const place = data && spanOf(data.quote);
    if (!data || !isKnownType || !place) {
      const reason = isKnownType ? 'without_span' : 'outside_ontology';
      if (data)
        for (const name of [data.name, ...(data.aliases ?? [])]) dropped.set(foldedName(graphName(name)), reason);
      drop(reason);
      continue;
    }
    const entity = entityOf(data, ontology, place.span);
    const before = mentions.get(nameKey(entity));
    mentions.set(nameKey(entity), before ? mergeMentions(before, entity) : entity);
    facts.push(...propertyFacts(entity, place));
  }
  /** The entities with this name, followed by those with this alias. Entities of several types can share a name. */
  const mentioned = (name: string): Mention[] => {
    const [all, known] = [[...mentions.values()], foldedName(graphName(name))];
    const isNamed = (each: MentionedEntity) => foldedName(each.name) === known;
    const isCalled = ({ aliases }: MentionedEntity) => aliases.some((alias) => foldedName(alias) === known);
    return [...all.filter(isNamed), ...all.filter(isCalled)].map((each) => ({ type: each.type, name: each.name }));
  };
  const add = (fact: Pick<FoundFact, 'subject' | 'predicate' | 'object'>, { quote: words, ...times }: Stated) => {
    const place = spanOf(words);
    const period = place && validity(times, place);
    if (!place) drop('without_span');
    else if (!period) drop('wrong_time');
    else facts.push({ ...fact, ...period, span: place.span });
  };
  for (const item of itemsOf(answer.facts)) {
    const { data } = FactItem.safeParse(item);
    const subject =
      data && mentioned(data.subject).find(({ type }) => fitsFact(ontology, type, data.predicate, data.object));
    if (!data) drop('outside_ontology');
    else if (!subject) drop(mentioned(data.subject).length > 0 ? 'outside_ontology' : reasonFor(data.subject));
    else add({ subject, predicate: wellFormed(data.predicate), object: wellFormed(data.object) }, data);
  }
  for (const item of itemsOf(answer.relationships)) {
    const { data } = RelationshipItem.safeParse(item);
    const type =
      data && Object.hasOwn(ontology.relationship_types, data.type)
        ? ontology.relationship_types[data.type]
        : undefined;
    const from = data && type && endOf(mentioned(data.from), type.from);
    const to = data && type && endOf(mentioned(data.to), type.to);
    if (data && from && to) add({ subject: from, predicate: data.type, object: to }, data);
    else {
      const missing = data && type ? [data.from, data.to].find((name) => mentioned(name).length === 0) : undefined;
      drop(missing === undefined ? 'outside_ontology' : reasonFor(missing));
    }
  }
  const entities = [...mentions.values()];
  return { entities, facts, counts: { ...counts, entities: entities.length, facts: facts.length } };
}

/** Some endpoints return the arguments as text that prose surrounds, instead of calling the tool. */
function objectIn({ tool_calls, content }: Pick<ChatCompletion, 'tool_calls' | 'content'>): Record<string, unknown> {
  const [call] = tool_calls;
  if (call?.problem !== undefined) throw unusableAnswer(`the model called ${call.name}: ${call.problem}`);
  const objects = call ? [parseJsonOrUndefined(call.arguments)] : jsonObjectsIn(content);
  const answer = objects.findLast((each) => isJsonObject(each) && 'entities' in each) ?? objects.at(-1);
  if (!isJsonObject(answer)) throw unusableAnswer('the model gave no JSON object with entities and facts');
  return answer;
}

/** Why an item of the answer is dropped. */
type Reason = 'without_span' | 'outside_ontology' | 'wrong_time';

interface Stated extends Times {
  quote: string;
}

interface Place {
  span: Span;
  at: number;
}

/** Finds what a model quotes in the pieces of a text. */
function spanFinder(memory_id: string, pieces: readonly ReadPiece[]): (words: string) => Place | undefined {
  const finders = pieces.map((piece) => ({ ...piece, find: quoteFinder(piece.text) }));
  return (words) => {
    for (const { turn, start, at, find } of finders) {
      const found = find(words);
      if (found) return { span: { memory_id, turn, start: start + found.start, end: start + found.end }, at };
    }
    return undefined;
  };
}

function entityOf(
  { type, name, aliases, properties: given }: z.infer<typeof EntityItem>,
  ontology: OntologyDefinition,
  span: Span,
): MentionedEntity {
  const properties = Object.fromEntries(
    Object.entries(given ?? {})
      .map(([property, value]) => [property, wellFormed(value)] as const)
      .filter(([property, value]) => value != null && isStorable(property, value))
      .slice(0, saveBounds.properties),
  ) as JsonMap;
  const wrong = new Set(checkEntity(ontology, { type, properties }).map(({ place }) => place));
  const fitting = Object.entries(properties).filter(([property]) => !wrong.has(`properties.${property}`));
  return {
    type,
    name: graphName(name),
    aliases: (aliases ?? []).map(graphName).filter((alias) => alias !== graphName(name)),
    properties: Object.fromEntries(fitting),
    spans: [span],
  };
}

/** As for `save-context`: an open type accepts any name but those that are reserved or internal. */
function isStorable(property: string, value: unknown): boolean {
  return PropertyName.safeParse(property).success && PropertyValue.safeParse(value).success;
}

/** A model may name an entity twice. */
function mergeMentions(before: MentionedEntity, entity: MentionedEntity): MentionedEntity {
  const aliases = [...new Set([...before.aliases, ...entity.aliases])];
  const spans = [...before.spans, ...entity.spans];
  return { ...entity, aliases, properties: { ...before.properties, ...entity.properties }, spans };
}

/** Properties are also facts, because only facts have a validity. */
function propertyFacts({ type, name, properties }: MentionedEntity, { span, at }: Place): FoundFact[] {
  return Object.entries(properties).flatMap(([predicate, object]) =>
    typeof object === 'string' || typeof object === 'number' || typeof object === 'boolean'
      ? [{ subject: { type, name }, predicate, object, valid_from: at, valid_to: null, span }]
      : [],
  );
}

function fitsFact(ontology: OntologyDefinition, type: string, predicate: string, object: Json): boolean {
  const found = ontology.entity_types[type];
  if (!found || Object.hasOwn(ontology.relationship_types, predicate)) return false;
  if (!Object.hasOwn(found.properties, predicate)) return found.open;
  const wrong = checkEntity(ontology, { type, properties: { [predicate]: object } });
  return !wrong.some(({ place }) => place === `properties.${predicate}`);
}

function endOf(mentions: readonly Mention[], allowed: readonly string[] | undefined): Mention | undefined {
  return mentions.find(({ type }) => allowed?.includes(type) ?? true);
}

interface Times {
  valid_from?: unknown;
  valid_to?: unknown;
}

/** Returns undefined if a time cannot be read or does not exist, and if the end is not after the start. */
function validity(
  { valid_from, valid_to }: Times,
  { at }: Place,
): Pick<FoundFact, 'valid_from' | 'valid_to'> | undefined {
  const [start, end] = [modelTime(valid_from, at), modelTime(valid_to, at)];
  if (start === undefined || end === undefined) return undefined;
  const from = start ?? startBefore(end, at);
  return end === null || end > from ? { valid_from: from, valid_to: end } : undefined;
}

/** Replaces halves of surrogate pairs, which cannot be stored. */
function wellFormed<T>(value: T): T {
  return (typeof value === 'string' ? value.toWellFormed() : value) as T;
}
