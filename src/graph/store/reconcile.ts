import { saysOnlyEnd } from './validity.js';

export type FactObject = string | number | boolean;

/** A period from `valid_from` until before `valid_to`, in epoch seconds. Null means no end. */
interface Validity {
  valid_from: number;
  valid_to: number | null;
}

export interface Statement extends Validity {
  object: FactObject;
  confidence: number;
}

export interface StoredStatement extends Statement {
  id: string;
}

/**
 * What a statement does: `created` adds a fact, `changed` gives a known fact a longer period or another confidence,
 * `ended` gives one an earlier end, and `unchanged` does nothing.
 */
export type StatementEffect = 'created' | 'changed' | 'ended' | 'unchanged';

interface StatementChange {
  effect: StatementEffect;
  /** The facts that are no longer current. They are kept with the time of the change. */
  superseded: StoredStatement[];
  /** The current facts: the new statement, and the remaining parts of superseded facts. `of` is the superseded fact. */
  stated: (Statement & { of?: StoredStatement })[];
}

const noChange: StatementChange = { effect: 'unchanged', superseded: [], stated: [] };

/**
 * Computes the change that a new statement makes to known facts with the same subject and predicate.
 * - Same object: an explicit end shortens the known period; otherwise the periods merge. No change if the known period
 *   covers the new one.
 * - Different object: the later start closes the earlier fact; an explicit end splits it.
 */
export function reconcile(known: readonly StoredStatement[], stated: Statement): StatementChange {
  const isSame = (each: Statement) => Object.is(each.object, stated.object);
  const sameObject = known.filter(isSame);
  const others = known.filter((each) => !isSame(each));
  const shortened = sameObject.find((each) => isShortenedBy(each, stated));
  // Without a known period, it is not known when the statement began to hold: it does not contradict the others.
  if (!shortened && saysOnlyEnd(stated) && others.some((each) => overlap(each, stated))) return noChange;
  if (shortened) return changedBy(wholePeriod(shortened, stated), { shortened, sameObject, others });

  const next = Math.min(...others.filter((each) => each.valid_from > stated.valid_from).map((each) => each.valid_from));
  const incoming = stated.valid_to === null && Number.isFinite(next) ? { ...stated, valid_to: next } : stated;
  const covering = sameObject.find((each) => covers(each, incoming) || hasEndedSince(each, stated));
  if (covering?.confidence === stated.confidence) return noChange;
  if (covering)
    return {
      effect: 'changed',
      superseded: [covering],
      stated: [{ ...stated, valid_from: covering.valid_from, valid_to: covering.valid_to }],
    };
  return changedBy(incoming, { shortened: undefined, sameObject, others });
}

interface KnownStatements {
  shortened: StoredStatement | undefined;
  sameObject: readonly StoredStatement[];
  others: readonly StoredStatement[];
}

/** Returns the change by a statement that holds for this whole period. */
function changedBy(incoming: Statement, { shortened, sameObject, others }: KnownStatements): StatementChange {
  const ended = shortened ? [shortened] : [];
  if (incoming.valid_to !== null && incoming.valid_from >= incoming.valid_to)
    return { effect: 'ended', superseded: ended, stated: [] };
  const touching = sameObject.filter(
    (each) => each !== shortened && each.valid_from <= endOf(incoming) && incoming.valid_from <= endOf(each),
  );
  const closed = others.filter((each) => overlap(each, incoming));
  return {
    effect: shortened ? 'ended' : touching.length > 0 ? 'changed' : 'created',
    superseded: [...ended, ...touching, ...closed],
    stated: [...closed.flatMap((each) => remainders(each, incoming)), touching.reduce<Statement>(joined, incoming)],
  };
}

/** An explicit end shortens a fact that has no end yet, and a fact of which it also states the start. */
function isShortenedBy(known: StoredStatement, stated: Statement): boolean {
  if (stated.valid_to === null || endOf(known) <= stated.valid_to) return false;
  if (known.valid_to !== null) return known.valid_from === stated.valid_from;
  return known.valid_from < stated.valid_to || (known.valid_from === stated.valid_to && saysOnlyEnd(stated));
}

/** The period of a known fact until the end that the statement names. */
function wholePeriod(known: StoredStatement, stated: Statement): Statement {
  const start = saysOnlyEnd(stated) ? known.valid_from : Math.min(known.valid_from, stated.valid_from);
  return { ...stated, valid_from: start };
}

/** Returns whether a statement without an end repeats what is known to have ended later. */
function hasEndedSince(known: StoredStatement, stated: Statement): boolean {
  return stated.valid_to === null && known.valid_from <= stated.valid_from && stated.valid_from < endOf(known);
}

function remainders(closed: StoredStatement, by: Validity): (Statement & { of: StoredStatement })[] {
  const { object, confidence } = closed;
  const left: (Statement & { of: StoredStatement })[] = [];
  if (closed.valid_from < by.valid_from)
    left.push({ object, confidence, valid_from: closed.valid_from, valid_to: by.valid_from, of: closed });
  if (by.valid_to !== null && endOf(closed) > by.valid_to)
    left.push({ object, confidence, valid_from: by.valid_to, valid_to: closed.valid_to, of: closed });
  return left;
}

function joined(whole: Statement, part: Validity): Statement {
  const end = Math.max(endOf(whole), endOf(part));
  return { ...whole, valid_from: Math.min(whole.valid_from, part.valid_from), valid_to: end === Infinity ? null : end };
}

function endOf({ valid_to: end }: Validity): number {
  return end ?? Infinity;
}

function covers(outer: Validity, inner: Validity): boolean {
  return outer.valid_from <= inner.valid_from && endOf(outer) >= endOf(inner);
}

export function overlap(a: Validity, b: Validity): boolean {
  return a.valid_from < endOf(b) && b.valid_from < endOf(a);
}
