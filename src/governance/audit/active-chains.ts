import type { Collections } from '../../stores/collections.js';
import { createAppender, type Appender } from './appender.js';
import type { Checkpoints } from './checkpoints.js';
import type { ChainHead } from './entry.js';
import type { Checkpoint } from './statement.js';

export interface ActiveChainsOptions {
  collections: Pick<Collections, 'audit_entries'>;
  checkpoints: Pick<Checkpoints, 'seal'>;
  /** A checkpoint is made after this number of entries, and after this number of seconds if there are new entries. */
  checkpointEvery?: number;
  checkpointSeconds?: number;
  /** Called if a background checkpoint fails, or is refused because the chain is broken. */
  onError?(error: unknown): void;
}

interface ActiveChain {
  appender: Appender;
  /** The last entry that this process appended since the last sweep. */
  appended: ChainHead | undefined;
  /** The sequence number of the last sealed entry. */
  sealed: number;
  /** The sequence number of the last entry when an attempt to seal failed. */
  tried: number;
  sealing: Promise<Checkpoint | null> | undefined;
}

/** The chains to which this process appends. Seals each one with a checkpoint after a number of entries or seconds. */
export function createActiveChains({
  collections,
  checkpoints,
  checkpointEvery = 1000,
  checkpointSeconds = 60,
  onError = () => undefined,
}: ActiveChainsOptions) {
  const chains = new Map<string, ActiveChain>();

  function chainOf(organizationId: string): ActiveChain {
    const present = chains.get(organizationId);
    if (present) return present;
    const onAppended = (head: ChainHead) => {
      // A sweep may have dropped the chain while the entry was being stored.
      const chain = chains.get(organizationId) ?? added;
      chains.set(organizationId, chain);
      if (head.seq > (chain.appended?.seq ?? 0)) chain.appended = head;
      if (head.seq - Math.max(chain.sealed, chain.tried) >= checkpointEvery) sealInBackground(organizationId, chain);
    };
    const appender = createAppender({ entries: collections.audit_entries, organizationId, onAppended });
    const added: ActiveChain = { appender, appended: undefined, sealed: 0, tried: 0, sealing: undefined };
    chains.set(organizationId, added);
    return added;
  }

  async function sealNow(organizationId: string, chain: ActiveChain): Promise<Checkpoint | null> {
    const checkpoint = await checkpoints.seal(organizationId, await chain.appender.head());
    chain.sealed = Math.max(chain.sealed, checkpoint?.entries ?? 0);
    return checkpoint;
  }

  /** Seals one checkpoint of a chain at a time; the next one covers the head at its start. */
  async function seal(organizationId: string): Promise<Checkpoint | null> {
    const chain = chainOf(organizationId);
    while (chain.sealing) await chain.sealing.catch(() => undefined);
    chain.sealing = sealNow(organizationId, chain).finally(() => (chain.sealing = undefined));
    return chain.sealing;
  }

  function sealInBackground(organizationId: string, chain: ActiveChain): void {
    if (chain.sealing) return;
    void seal(organizationId).catch((error: unknown) => {
      // Tries again at the next sweep or after `checkpointEvery` more entries, not after each entry.
      chain.tried = chain.appended?.seq ?? chain.tried;
      onError(error);
    });
  }

  /** Seals unsealed entries, and drops the chains without new entries since the previous sweep. */
  function sweep(): void {
    for (const [organizationId, chain] of chains) {
      if (chain.appended && chain.appended.seq > chain.sealed) sealInBackground(organizationId, chain);
      else if (chain.appended) chain.appended = undefined;
      else if (!chain.sealing) chains.delete(organizationId);
    }
  }

  const timer = setInterval(sweep, checkpointSeconds * 1000);
  timer.unref();

  return {
    appender: (organizationId: string) => chainOf(organizationId).appender,
    seal,
    async close(): Promise<void> {
      clearInterval(timer);
      await Promise.all([...chains.values()].map(({ appender }) => appender.idle()));
      const unsealed = [...chains].filter(([, { appended, sealed }]) => appended && appended.seq > sealed);
      await Promise.all(unsealed.map(([organizationId]) => seal(organizationId).catch(onError)));
    },
  };
}
