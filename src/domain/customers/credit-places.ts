import { LRUCache } from 'lru-cache';
import { defineCollection, type Collections } from '../../stores/collections.js';
import { createGroup, type Group } from '../../stores/group.js';
import { insertOnce } from '../../stores/insert-once.js';
import { epochSeconds } from '../../base/time.js';

/** What begins: an execution, or the extraction of a remembered text. */
export interface CreditUse {
  kind: 'execution' | 'memory';
  id: string;
}

interface CreditPlace extends CreditUse {
  /** Epoch seconds. */
  at: number;
}

/**
 * What has begun, or is about to begin, and may not be charged yet. Each place is worth what the plan deducts for an execution.
 * `_id` is the organization id.
 */
interface CreditPlacesDocument {
  _id: string;
  /** Changes with every change of the places. */
  revision: number;
  places: CreditPlace[];
}

type Stores = Pick<Collections, 'credit_places' | 'credit_history' | 'executions' | 'memories'>;

/** After this time, a place without a record is released: the process that reserved it has crashed. */
const graceSeconds = 60;
/** After this time, an execution that is still ready was never started, unless it waits for its turn. */
const startSeconds = 3600;
/** The list is tidied each time that it has grown by this many places. */
const growth = 200;

export type CreditPlaces = ReturnType<typeof createCreditPlaces>;

/**
 * Reserves the least that a run costs before it begins. Places are released when they are needed and what they were
 * reserved for is charged, has ended or was never started.
 * @param mostOf reads how many more runs the credits of an organization pay for
 */
export function createCreditPlaces(stores: Stores, mostOf: (organizationId: string) => Promise<number>) {
  const { credit_places } = stores;
  const groups = new LRUCache<string, Group<CreditUse, boolean>>({
    max: 1000,
    memoMethod: (organizationId) =>
      createGroup(async (batch) => {
        const uses = batch.map(({ item }) => item);
        const admitted = await reserveAll(organizationId, uses);
        for (const { item, resolve } of batch) resolve(admitted.has(item.id));
      }),
  });

  async function read(organizationId: string): Promise<CreditPlacesDocument> {
    const found = await credit_places.findOne({ _id: organizationId });
    return found ?? insertOnce(credit_places, { _id: organizationId, revision: 0, places: [] });
  }

  /** @returns false if another process has changed the places since they were read */
  async function write({ _id, revision }: CreditPlacesDocument, places: CreditPlace[]): Promise<boolean> {
    const $set = { places, revision: revision + 1 };
    return (await credit_places.updateOne({ _id, revision }, { $set })).matchedCount === 1;
  }

  /** Returns the ids that have a place. */
  async function reserveAll(organizationId: string, uses: readonly CreditUse[]): Promise<ReadonlySet<string>> {
    for (;;) {
      // Read the places first. A charge that is counted afterwards still has its place, so nothing is counted too low.
      const document = await read(organizationId);
      const most = await mostOf(organizationId);
      const held = new Set(document.places.map(({ id }) => id));
      const asked = [...new Map(uses.filter(({ id }) => !held.has(id)).map((use) => [use.id, use])).values()];
      const length = held.size + asked.length;
      const isTidied = length > most || Math.floor(length / growth) > Math.floor(held.size / growth);
      const places = isTidied ? await stillNeeded(stores, document.places) : document.places;
      const added = asked.slice(0, Math.max(0, most - places.length)).map((use) => ({ ...use, at: epochSeconds() }));
      const isChanged = added.length > 0 || places.length < document.places.length;
      if (isChanged && !(await write(document, [...places, ...added]))) continue;
      return new Set([...held, ...added.map(({ id }) => id)]);
    }
  }

  return {
    /** Returns whether the credits cover it. Idempotent by id. */
    reserve: (organizationId: string, use: CreditUse): Promise<boolean> => groups.memo(organizationId).add(use),
    /** Releases a place whose run did not begin. Idempotent. */
    async release(organizationId: string, { id }: CreditUse): Promise<void> {
      await credit_places.updateOne({ _id: organizationId }, { $pull: { places: { id } }, $inc: { revision: 1 } });
    },
  };
}

async function stillNeeded(stores: Stores, places: readonly CreditPlace[]): Promise<CreditPlace[]> {
  const idsOf = (kind: CreditUse['kind']) => places.filter((place) => place.kind === kind).map(({ id }) => id);
  const projection = { _id: 1, status: 1, started_at: 1 } as const;
  const [charged, executions, memories] = await Promise.all([
    stores.credit_history
      .find({ _id: { $in: idsOf('execution') }, applied: true }, { projection: { _id: 1 } })
      .toArray(),
    stores.executions.find({ _id: { $in: idsOf('execution') } }, { projection }).toArray(),
    stores.memories.find({ _id: { $in: idsOf('memory') } }, { projection }).toArray(),
  ]);
  const isCharged = new Set(charged.map(({ _id }) => _id));
  const statuses = new Map([...executions, ...memories].map(({ _id, status }) => [_id, status]));
  const waitsForTurn = new Set(executions.flatMap(({ _id, started_at }) => (started_at === null ? [] : _id)));
  const now = epochSeconds();
  return places.filter(({ id, at }) => {
    if (isCharged.has(id)) return false;
    const status = statuses.get(id);
    if (status === 'ready') return at > now - startSeconds || waitsForTurn.has(id);
    if (status === undefined) return at > now - graceSeconds;
    return !endStates.has(status);
  });
}

/** A run is charged before its record says that it has ended, unless it never began. */
const endStates: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled', 'rejected']);

export const creditPlacesCollection = defineCollection('credit_places', { majorityRead: true });

declare module '../../stores/collections.js' {
  interface Documents {
    credit_places: CreditPlacesDocument;
  }
}
