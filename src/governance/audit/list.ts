import type { Collection, Filter } from 'mongodb';
import { literalPattern } from '../../base/text.js';
import { countUpTo, decodePosition, encodePosition, type ListQuery, type Page } from '../../stores/lists.js';
import { entryId, type AuditEntry, type AuditEntryDocument, type ChainHead } from './entry.js';

type Entries = Collection<AuditEntryDocument>;

/** Filters for entries, combined with AND. Times are epoch seconds. */
export interface AuditFilter {
  actor?: string | undefined;
  /** Further ids of people, keys, apps or services, any of which matches. */
  actorIds?: readonly string[] | undefined;
  /** The beginning of the action. */
  action?: string | undefined;
  exact_action?: string | undefined;
  resource?: string | undefined;
  outcome?: string | undefined;
  lifecycle_id?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

/**
 * A page of a chain, newest first. Positions have no gaps, so a page without a filter is a range of `_id`s. The page is
 * shorter if entries were removed.
 * @throws AppError `invalid_request` for an invalid cursor
 */
export async function listEntries(
  entries: Entries,
  organizationId: string,
  head: ChainHead,
  query: ListQuery & AuditFilter,
): Promise<Page<AuditEntry>> {
  const { limit, cursor, from, to, ...rest } = query;
  // A cursor of another list may have any number.
  const last = cursor === undefined ? head.seq : Math.min(head.seq, Math.floor(decodePosition(cursor).at ?? 0) - 1);
  const filter = filterOf(rest);
  if (Object.keys(filter).length === 0 && from === undefined && to === undefined) {
    const first = Math.max(1, last - limit + 1);
    const range = { $gte: entryId(organizationId, first), $lte: entryId(organizationId, last) };
    const found =
      last < 1
        ? []
        : await entries
            .find({ _id: range }, { projection: { _id: 0 } })
            .sort({ _id: -1 })
            .toArray();
    return { data: found, total_count: head.seq, next_cursor: first > 1 ? positionBefore(first) : null };
  }
  const [begin, end] = await positionsBetween(entries, organizationId, head, from, to);
  const at = { ...(from !== undefined && { $gte: from }), ...(to !== undefined && { $lt: to }) };
  const matching = { ...filter, ...(Object.keys(at).length > 0 && { at }) };
  const within = (until: number) => ({
    _id: { $gte: entryId(organizationId, begin), $lt: entryId(organizationId, until) },
    ...matching,
  });
  const [found, total] = await Promise.all([
    entries
      .find(within(Math.min(end, last + 1)), { projection: { _id: 0 } })
      .sort({ _id: -1 })
      .limit(limit + 1)
      .toArray(),
    countUpTo(entries, within(end)),
  ]);
  const data = found.slice(0, limit);
  return { data, ...total, next_cursor: found.length > limit ? positionBefore(data.at(-1)?.seq ?? 1) : null };
}

/**
 * Builds the filter. `actor` is a complete actor, or the id of a person, key, client or run. `action`, `resource` and
 * `outcome` are the beginning of the value.
 */
function filterOf({
  actor,
  actorIds = [],
  action,
  exact_action,
  resource,
  outcome,
  lifecycle_id,
}: AuditFilter): Filter<AuditEntryDocument> {
  const ids = [...(actor === undefined ? [] : [actor]), ...actorIds].map(literalPattern);
  const startsWith = (text: string) => new RegExp(`^${literalPattern(text)}`);
  return {
    ...(actor !== undefined && { actor: actor.includes(':') ? actor : new RegExp(`:(${ids.join('|')})(:|$)`) }),
    ...(action !== undefined && { action: startsWith(action) }),
    ...(exact_action !== undefined && { $and: [{ action: exact_action }] }),
    ...(resource !== undefined && { resource: startsWith(resource) }),
    ...(outcome !== undefined && { outcome: startsWith(outcome) }),
    ...(lifecycle_id !== undefined && { lifecycle_id }),
  };
}

/** The maximum time difference between clocks and queues of processes that append to one chain. */
const marginSeconds = 30;

/**
 * The first position and the end position of entries from this period. A chain is in chronological order, within a
 * margin.
 */
async function positionsBetween(
  entries: Entries,
  organizationId: string,
  head: ChainHead,
  from: number | undefined,
  to: number | undefined,
): Promise<[number, number]> {
  const firstFrom = async (at: number): Promise<number> => {
    let [low, high] = [1, head.seq + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const entry = await entries.findOne({ _id: entryId(organizationId, middle) }, { projection: { at: 1 } });
      if (entry && entry.at < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return Promise.all([
    from === undefined ? 1 : firstFrom(from - marginSeconds),
    to === undefined ? head.seq + 1 : firstFrom(to + marginSeconds),
  ]);
}

/** The entry of a call that started at this time. Reads only the end of the chain. */
export async function entrySince(
  entries: Entries,
  organizationId: string,
  head: ChainHead,
  { since, ...call }: Pick<AuditFilter, 'outcome'> & { lifecycle_id: string; since: number },
): Promise<AuditEntry | undefined> {
  const [first, end] = await positionsBetween(entries, organizationId, head, since, undefined);
  const _id = { $gte: entryId(organizationId, first), $lt: entryId(organizationId, end) };
  return (await entries.findOne({ ...filterOf(call), _id }, { projection: { _id: 0 } })) ?? undefined;
}

const positionBefore = (seq: number) => encodePosition({ at: seq, id: '' });
