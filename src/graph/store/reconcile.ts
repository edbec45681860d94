/** Holds from `valid_from` until just before `valid_to`; null is without end. Epoch seconds. */
export interface Validity {
  valid_from: number;
  valid_to: number | null;
}

export interface Statement<T> extends Validity {
  object: T;
  confidence: number;
}

export interface Known<T> extends Statement<T> {
  id: string;
}

export interface Change<T> {
  /** Not believed any more; they are kept with the time of it. */
  superseded: Known<T>[];
  /** What is believed instead: what was stated, and what is left of the superseded. `of` is the one it is left of. */
  stated: (Statement<T> & { of?: Known<T> })[];
}

/**
 * What a new statement changes among those known of the same subject and predicate.
 * - the same object: the times it holds grow together; nothing changes where they are covered
 * - another object, one value at a time: the later beginning closes the earlier; an end that is given makes a hole
 * - another object, many values: they stand beside each other
 */
export function reconcile<T>(known: readonly Known<T>[], stated: Statement<T>, options: { multiValued: boolean; same(a: T, b: T): boolean }): Change<T> {
  const alike = known.filter((each) => options.same(each.object, stated.object));
  const others = options.multiValued ? [] : known.filter((each) => !options.same(each.object, stated.object));
  const covering = alike.find((each) => covers(each, stated));
  if (covering?.confidence === stated.confidence) return { superseded: [], stated: [] };
  if (covering) return { superseded: [covering], stated: [{ ...stated, valid_from: covering.valid_from, valid_to: covering.valid_to }] };

  const next = Math.min(...others.filter((each) => each.valid_from > stated.valid_from).map((each) => each.valid_from));
  const incoming = stated.valid_to === null && Number.isFinite(next) ? { ...stated, valid_to: next } : stated;
  const touching = alike.filter((each) => each.valid_from <= endOf(incoming) && incoming.valid_from <= endOf(each));
  const whole = touching.reduce<Statement<T>>(joined, incoming);
  const closed = others.filter((each) => overlap(each, incoming));
  return { superseded: [...touching, ...closed], stated: [...closed.flatMap((each) => remainders(each, incoming)), whole] };
}

function remainders<T>(closed: Known<T>, by: Validity): (Statement<T> & { of: Known<T> })[] {
  const { object, confidence } = closed;
  const left: (Statement<T> & { of: Known<T> })[] = [];
  if (closed.valid_from < by.valid_from) left.push({ object, confidence, valid_from: closed.valid_from, valid_to: by.valid_from, of: closed });
  if (by.valid_to !== null && endOf(closed) > by.valid_to) left.push({ object, confidence, valid_from: by.valid_to, valid_to: closed.valid_to, of: closed });
  return left;
}

function joined<T>(whole: Statement<T>, part: Validity): Statement<T> {
  const end = Math.max(endOf(whole), endOf(part));
  return { ...whole, valid_from: Math.min(whole.valid_from, part.valid_from), valid_to: end === Infinity ? null : end };
}

function endOf({ valid_to: end }: Validity): number {
  return end ?? Infinity;
}

function covers(outer: Validity, inner: Validity): boolean {
  return outer.valid_from <= inner.valid_from && endOf(outer) >= endOf(inner);
}

function overlap(a: Validity, b: Validity): boolean {
  return a.valid_from < endOf(b) && b.valid_from < endOf(a);
}
