import { z } from 'zod';
import { graphName } from '../../graph/graph-text.js';
import type { FoundFact, FoundPart, Mention, MentionedEntity } from '../../graph/memory/part.js';
import { checkEntity } from '../../graph/ontology/check.js';
import type { OntologyDefinition } from '../../graph/ontology/definition.js';
import { PropertyValue, saveBounds } from '../../graph/save/input.js';
import { nameKey, PropertyName } from '../../graph/store/names.js';
import type { Span } from '../../graph/store/provenance.js';
import { startBefore } from '../../graph/store/validity.js';
import type { Json, JsonMap } from '../../graph/store/values.js';
import { isJsonObject, parseJsonOrUndefined } from '../../json.js';
import { jsonObjectsIn } from '../../json-objects-in.js';
import { literalPattern } from '../../literal-pattern.js';
import { unusableAnswer } from '../../models/endpoint-failure.js';
import type { ChatCompletion } from '../../models/port.js';
import { isoSeconds } from '../../time.js';
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
const time = z.string().max(40).nullish().catch(null);
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
 * the ontology does not allow, and what exceeds the maximum number of items.
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
  const spanOf = (words: string) => findSpan(memoryId, pieces, words);
  const mentions = new Map<string, MentionedEntity>();
  const facts: FoundFact[] = [];
  const drop = (reason: 'without_span' | 'outside_ontology') => void (counts[reason] += 1);
  const itemsOf = (value: unknown): unknown[] => {
    const items: unknown[] = Array.isArray(value) ? value : [];
    counts.beyond_limit += Math.max(0, items.length - maxItems);
    return items.slice(0, maxItems);
  };

  for (const item of itemsOf(answer.entities)) {
    const { data } = EntityItem.safeParse(item);
    if (!data || !Object.hasOwn(ontology.entity_types, data.type)) {
      drop('outside_ontology');
      continue;
    }
    const place = spanOf(data.quote);
    if (!place) {
      drop('without_span');
      continue;
    }
    const entity = { ...entityOf(data, ontology), spans: [place.span] };
    const before = mentions.get(nameKey(entity));
    mentions.set(nameKey(entity), before ? mergeMentions(before, entity) : entity);
    facts.push(...propertyFacts(entity, place));
  }
  /** The entities with this name, followed by those with this alias. Entities of several types can share a name. */
  const mentioned = (name: string): Mention[] => {
    const [all, known] = [[...mentions.values()], graphName(name)];
    const found = [...all.filter((each) => each.name === known), ...all.filter((each) => each.aliases.includes(known))];
    return found.map((each) => ({ type: each.type, name: each.name }));
  };
  for (const item of itemsOf(answer.facts)) {
    const { data } = FactItem.safeParse(item);
    const subject =
      data && mentioned(data.subject).find(({ type }) => fitsFact(ontology, type, data.predicate, data.object));
    const place = data && spanOf(data.quote);
    if (!subject) drop('outside_ontology');
    else if (!place) drop('without_span');
    else {
      const [predicate, object] = [wellFormed(data.predicate), wellFormed(data.object)];
      facts.push({ subject, predicate, object, ...validity(data, place), span: place.span });
    }
  }
  for (const item of itemsOf(answer.relationships)) {
    const { data } = RelationshipItem.safeParse(item);
    const type =
      data && Object.hasOwn(ontology.relationship_types, data.type)
        ? ontology.relationship_types[data.type]
        : undefined;
    const from = data && type && endOf(mentioned(data.from), type.from);
    const to = data && type && endOf(mentioned(data.to), type.to);
    const place = data && spanOf(data.quote);
    if (!data || !from || !to) drop('outside_ontology');
    else if (!place) drop('without_span');
    else facts.push({ subject: from, predicate: data.type, object: to, ...validity(data, place), span: place.span });
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

interface Place {
  span: Span;
  at: number;
}

/** Models change line ends and other white space of what they quote. */
function findSpan(memory_id: string, pieces: readonly ReadPiece[], words: string): Place | undefined {
  const pattern = new RegExp(words.split(/\s+/).map(literalPattern).join('\\s+'));
  for (const { turn, start, text, at } of pieces) {
    const found = pattern.exec(text);
    if (found) {
      const from = start + found.index;
      return { span: { memory_id, turn, start: from, end: from + found[0].length }, at };
    }
  }
  return undefined;
}

function entityOf(
  { type, name, aliases, properties: given }: z.infer<typeof EntityItem>,
  ontology: OntologyDefinition,
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
  };
}

/** As for `save-context`: an open type accepts any name but those that are reserved or internal. */
function isStorable(property: string, value: unknown): boolean {
  return PropertyName.safeParse(property).success && PropertyValue.safeParse(value).success;
}

/** A model may name an entity twice. */
function mergeMentions(before: MentionedEntity, entity: MentionedEntity): MentionedEntity {
  const aliases = [...new Set([...before.aliases, ...entity.aliases])];
  const spans = [...(before.spans ?? []), ...(entity.spans ?? [])];
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

/** Ignores a time that cannot be read, and an end that is before the start. */
function validity(
  { valid_from, valid_to }: { valid_from?: string | null | undefined; valid_to?: string | null | undefined },
  { at }: Place,
): Pick<FoundFact, 'valid_from' | 'valid_to'> {
  const to = secondsOf(valid_to);
  const from = secondsOf(valid_from) ?? startBefore(to, at);
  return { valid_from: from, valid_to: to !== null && to > from ? to : null };
}

function secondsOf(text: string | null | undefined): number | null {
  const seconds = /^\d{4}(-\d{2})?(-\d{2})?([T ]|$)/.test(text ?? '') ? isoSeconds(text ?? '') : Number.NaN;
  return Number.isNaN(seconds) ? null : seconds;
}

/** Replaces halves of surrogate pairs, which cannot be stored. */
function wellFormed<T>(value: T): T {
  return (typeof value === 'string' ? value.toWellFormed() : value) as T;
}
