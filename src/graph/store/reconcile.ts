/** A period from `valid_from` until before `valid_to`, in epoch seconds. Null means no end. */
interface Validity {
  valid_from: number;
  valid_to: number | null;
}

export interface Statement<T> extends Validity {
  object: T;
  confidence: number;
}

export interface StoredStatement<T> extends Statement<T> {
  id: string;
}

interface StatementChange<T> {
  /** The facts that are no longer current. They are kept with the time of the change. */
  superseded: StoredStatement<T>[];
  /** The current facts: the new statement, and the remaining parts of superseded facts. `of` is the superseded fact. */
  stated: (Statement<T> & { of?: StoredStatement<T> })[];
}

/**
 * Computes the change that a new statement makes to known facts with the same subject and predicate.
 * - Same object: merges the validity periods; no change if the known period covers the new one.
 * - Different object, single value: the later start closes the earlier fact; an explicit end splits it.
 * - Different object, multiple values: both remain.
 */
export function reconcile<T>(
  known: readonly StoredStatement<T>[],
  stated: Statement<T>,
  options: { multiValued: boolean; same(a: T, b: T): boolean },
): StatementChange<T> {
  const sameObject = known.filter((each) => options.same(each.object, stated.object));
  const others = options.multiValued ? [] : known.filter((each) => !options.same(each.object, stated.object));
  const covering = sameObject.find((each) => covers(each, stated));
  if (covering?.confidence === stated.confidence) return { superseded: [], stated: [] };
  if (covering)
    return {
      superseded: [covering],
      stated: [{ ...stated, valid_from: covering.valid_from, valid_to: covering.valid_to }],
    };

  const next = Math.min(...others.filter((each) => each.valid_from > stated.valid_from).map((each) => each.valid_from));
  const incoming = stated.valid_to === null && Number.isFinite(next) ? { ...stated, valid_to: next } : stated;
  const touching = sameObject.filter(
    (each) => each.valid_from <= endOf(incoming) && incoming.valid_from <= endOf(each),
  );
  const whole = touching.reduce<Statement<T>>(joined, incoming);
  const closed = others.filter((each) => overlap(each, incoming));
  return {
    superseded: [...touching, ...closed],
    stated: [...closed.flatMap((each) => remainders(each, incoming)), whole],
  };
}

function remainders<T>(closed: StoredStatement<T>, by: Validity): (Statement<T> & { of: StoredStatement<T> })[] {
  const { object, confidence } = closed;
  const left: (Statement<T> & { of: StoredStatement<T> })[] = [];
  if (closed.valid_from < by.valid_from)
    left.push({ object, confidence, valid_from: closed.valid_from, valid_to: by.valid_from, of: closed });
  if (by.valid_to !== null && endOf(closed) > by.valid_to)
    left.push({ object, confidence, valid_from: by.valid_to, valid_to: closed.valid_to, of: closed });
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
