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

interface StatementChange {
  /** The facts that are no longer current. They are kept with the time of the change. */
  superseded: StoredStatement[];
  /** The current facts: the new statement, and the remaining parts of superseded facts. `of` is the superseded fact. */
  stated: (Statement & { of?: StoredStatement })[];
}

/**
 * Computes the change that a new statement makes to known facts with the same subject and predicate.
 * - Same object: merges the validity periods; no change if the known period covers the new one.
 * - Different object: the later start closes the earlier fact; an explicit end splits it.
 */
export function reconcile(known: readonly StoredStatement[], stated: Statement): StatementChange {
  const isSame = (each: Statement) => Object.is(each.object, stated.object);
  const sameObject = known.filter(isSame);
  const others = known.filter((each) => !isSame(each));
  const next = Math.min(...others.filter((each) => each.valid_from > stated.valid_from).map((each) => each.valid_from));
  const incoming = stated.valid_to === null && Number.isFinite(next) ? { ...stated, valid_to: next } : stated;
  const covering = sameObject.find((each) => covers(each, incoming));
  if (covering?.confidence === stated.confidence) return { superseded: [], stated: [] };
  if (covering)
    return {
      superseded: [covering],
      stated: [{ ...stated, valid_from: covering.valid_from, valid_to: covering.valid_to }],
    };

  const touching = sameObject.filter(
    (each) => each.valid_from <= endOf(incoming) && incoming.valid_from <= endOf(each),
  );
  const closed = others.filter((each) => overlap(each, incoming));
  return {
    superseded: [...touching, ...closed],
    stated: [...closed.flatMap((each) => remainders(each, incoming)), touching.reduce<Statement>(joined, incoming)],
  };
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

function overlap(a: Validity, b: Validity): boolean {
  return a.valid_from < endOf(b) && b.valid_from < endOf(a);
}
