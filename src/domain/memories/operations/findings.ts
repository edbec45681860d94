import { bounded } from '../../../governance/bounded.js';
import type { FoundPart } from '../../../graph/memory/part.js';
import type { Deps } from '../../deps.js';
import { nothingFound, type MemoryDocument, type MemoryPartDocument } from '../record.js';

const maxShown = 100;

/** What a list shows of a review: the counts and the first facts, without secrets and personal data. */
export async function shownFindings(
  deps: Pick<Deps, 'mongo' | 'auth' | 'redact'>,
  { _id: memory_id }: Pick<MemoryDocument, '_id'>,
) {
  const parts = await deps.mongo.collections.memory_parts.find({ memory_id }, { projection: { counts: 1 } }).toArray();
  const facts: FoundPart['facts'] = [];
  for await (const { found } of foundParts(deps, memory_id)) {
    facts.push(...found.facts);
    // The findings can be large, so only as many parts are opened as are shown.
    if (facts.length >= maxShown) break;
  }
  const nameOf = (term: FoundPart['facts'][number]['object']) => (typeof term === 'object' ? term.name : term);
  const shown = facts
    .slice(0, maxShown)
    .map(({ subject, object, ...fact }) => bounded({ subject: subject.name, object: nameOf(object), ...fact }));
  return { counts: foundIn(parts), facts: await deps.redact(shown) };
}

/** Opens what was found, part by part. */
export async function* foundParts(
  { mongo, auth }: Pick<Deps, 'mongo' | 'auth'>,
  memory_id: string,
): AsyncGenerator<{ part: number; found: FoundPart }> {
  const stored = mongo.collections.memory_parts
    .find({ memory_id }, { projection: { part: 1, found: 1 } })
    .sort({ part: 1 })
    .batchSize(1);
  for await (const { _id, part, found } of stored)
    if (found) yield { part, found: JSON.parse(auth.box.open(found.sealed, _id)) as FoundPart };
}

export function foundIn(parts: readonly Pick<MemoryPartDocument, 'counts'>[]) {
  return sums(
    parts.map(({ counts }) => counts),
    Object.keys(nothingFound) as (keyof typeof nothingFound)[],
  );
}

export function sums<K extends string>(rows: readonly Record<K, number>[], names: readonly K[]): Record<K, number> {
  return Object.fromEntries(names.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)])) as Record<
    K,
    number
  >;
}
