import neo4j, { type ManagedTransaction } from 'neo4j-driver';
import { fold, titleKey, unitsIn, unspaced, type Unit } from '../language/tokens.js';
import { validAtTimeOrInPeriods } from './as-of.js';
import type { EntityKey, NamedEntity } from './rank.js';
import { keyOf, type Scope } from './search.js';
import { isSignificant } from './words.js';

/** The maximum number of units of a question, and of a name in it. */
const maxUnits = 200;
const maxUnitsOfName = 24;
/** The maximum number of names to look up, over all projects. */
const maxLookups = 6000;
const maxFound = 1000;
/** With more entities of the same name, the name does not say which of them a longer question is about. */
const maxSameName = 10;
/** A shorter name must have its punctuation in the question: “net” in a sentence is not .NET. */
const minKeyWithoutSigns = 4;

interface Candidate {
  entity: EntityKey;
  name: string;
  key: string;
}

interface Span {
  from: number;
  to: number;
}

/** Finds the entities whose whole name the question is or contains, before any of its words are left out (decision 0026). */
export async function readNamed(tx: ManagedTransaction, question: string, scope: Scope): Promise<NamedEntity[]> {
  const keys = [...spansByKey(question).keys()].slice(0, Math.ceil(maxLookups / scope.projectIds.length));
  const { records } = await tx.run(
    `UNWIND $projectIds AS project UNWIND $keys AS key
     MATCH (n:Entity {project_id: project, _title_key: key}) USING INDEX n:Entity(project_id, _title_key) WHERE ${validAtTimeOrInPeriods('n')}
     RETURN ${keyOf('n')} AS entity, n.name AS name, key LIMIT $limit`,
    { ...scope, keys, limit: neo4j.int(maxFound) },
  );
  return namedIn(
    question,
    records.map((record) => record.toObject() as unknown as Candidate),
  );
}

/** Maps the keys of all names that the question may contain to their places. Begins with the whole question, then short names. */
function spansByKey(question: string): Map<string, Span[]> {
  const folded = fold(question);
  const units = unitsIn(folded).slice(0, maxUnits);
  const spans = new Map<string, Span[]>([[titleKey(question), []]]);
  const add = (key: string, span: Span) => spans.set(key, [...(spans.get(key) ?? []), span]);
  for (let length = 1; length <= Math.min(maxUnitsOfName, units.length); length += 1)
    for (let at = 0; at + length <= units.length; at += 1)
      add(textOf(units.slice(at, at + length)), spanOf(units, at, length));
  // A name without letters and digits, such as an emoji.
  for (const { 0: sign, index } of folded.matchAll(/[^\s\p{L}\p{N}\p{M}]+/gu))
    add(sign, { from: index, to: index + sign.length });
  return spans;
}

function textOf(units: readonly Unit[]): string {
  return units.map(({ text }) => text).join('');
}

function spanOf(units: readonly Unit[], at: number, length: number): Span {
  return { from: units[at]?.start ?? 0, to: units[at + length - 1]?.end ?? 0 };
}

/**
 * Selects the candidates whose name the question contains. A name does not count where it is a part of a longer one that is
 * written as exactly.
 */
export function namedIn<Found extends { name: string; key: string; entity: EntityKey }>(
  question: string,
  candidates: readonly Found[],
): NamedEntity[] {
  const places = spansByKey(question);
  const whole = titleKey(question);
  const asked = { raw: question.normalize('NFC'), folded: fold(question), hasSubject: hasSubject(question) };
  const sameName = new Map<string, number>();
  for (const { key } of candidates) sameName.set(key, (sameName.get(key) ?? 0) + 1);
  const found = candidates.flatMap(({ entity, name, key }) => {
    const isWhole = key === whole;
    if (!isWhole && (sameName.get(key) ?? 0) > maxSameName) return [];
    const written = placesOf(name, asked);
    const spans = written.length > 0 ? written : (places.get(key) ?? []);
    const exactness: NamedEntity['exactness'] =
      written.length === 0 ? 1 : isIn(asked.raw, name.normalize('NFC')) ? 3 : 2;
    if (exactness === 1 && !isWhole && key.length < minKeyWithoutSigns) return [];
    const meant = isWhole ? spans : spans.filter((span) => isMeant(name, exactness, span, asked));
    return isWhole || meant.length > 0 ? [{ entity, exactness, spans: meant }] : [];
  });
  const isWithinLonger = ({ spans, exactness }: (typeof found)[number]) =>
    spans.length > 0 &&
    spans.every((span) =>
      found.some((other) => other.exactness >= exactness && other.spans.some((outer) => contains(outer, span))),
    );
  return found.filter((each) => !isWithinLonger(each)).map(({ entity, exactness }) => ({ entity, exactness }));
}

function contains(outer: Span, inner: Span): boolean {
  return outer.to - outer.from > inner.to - inner.from && outer.from <= inner.from && inner.to <= outer.to;
}

interface Asked {
  raw: string;
  folded: string;
  /** Whether the question has words that do not only ask. */
  hasSubject: boolean;
}

/** Returns where the question has the name with its signs, in any case and with any accents. */
function placesOf(name: string, { folded }: Asked): Span[] {
  return placesIn(folded, fold(name).trim());
}

function isIn(text: string, name: string): boolean {
  return placesIn(text, name).length > 0;
}

const isUnspaced = new RegExp(`^${unspaced}`, 'u');
/** What a word or a name such as C++, C# and .NET may have before and after a shorter name. */
const wordBefore = /(?:[\p{L}\p{N}\p{M}_]|(?:^|\s)\.)$/u;
const wordAfter = /^[\p{L}\p{N}\p{M}_+#]/u;

/** Returns the places of a name that are not parts of a longer word. */
function placesIn(text: string, name: string): Span[] {
  const found: Span[] = [];
  if (name === '') return found;
  for (let from = text.indexOf(name); from >= 0; from = text.indexOf(name, from + 1)) {
    const to = from + name.length;
    const isPart = wordBefore.test(text.slice(Math.max(0, from - 2), from)) || wordAfter.test(text.slice(to, to + 2));
    if (!isPart || isUnspaced.test(name)) found.push({ from, to });
  }
  return found;
}

/**
 * Returns whether a sentence means the name. A name of asking words alone, such as “IT” or “The Who”, must be written like a
 * name and not begin the sentence, unless the sentence asks about nothing else.
 */
function isMeant(name: string, exactness: number, { from }: Span, asked: Asked): boolean {
  if (hasSubject(name)) return true;
  if (from === 0) return false;
  if (exactness === 3 && /[^a-z\s]/.test(name)) return true;
  return !asked.hasSubject && unitsIn(fold(name)).length > 1;
}

/** The words that Lucene's English analyzer ignores. */
const ignoredWords = new Set(
  'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with'.split(
    ' ',
  ),
);

function hasSubject(text: string): boolean {
  const units = unitsIn(fold(text));
  return units.length === 0 || units.some(({ text: word }) => isSignificant(word) && !ignoredWords.has(word));
}
