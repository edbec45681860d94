import { setTimeout as delay } from 'node:timers/promises';
import { createBalanced } from './balanced.js';
import { startFleet, type Fleet } from './fleet.js';
import type { Ground } from './ground.js';
import { createLedger, type Ledger } from './ledger.js';
import { loads, type Load, type Stage } from './loads.js';
import { sampleMemory, type Memory } from './memory.js';
import type { Pace } from './pace.js';
import type { OwnProduct } from '../../support/own-product.js';
import { createTally, type Tally } from './tally.js';

export interface Soaked {
  fleet: Fleet;
  ledger: Ledger;
  tally: Tally;
  memory: Memory[];
  seconds: number;
}

/**
 * Runs every load on the fleet until it has survived the last kill; returns the acknowledged work and the observed
 * answers.
 */
export async function soak(product: OwnProduct, ground: Ground, pace: Pace): Promise<Soaked> {
  const fleet = await startFleet(product);
  const [ledger, tally] = [createLedger(), createTally()];
  const stage: Stage = { ground, ledger, tally, balanced: createBalanced(fleet.apiUrls, tally) };
  const begun = Date.now();
  const over = new AbortController();
  const sampling = sampleMemory(fleet.lasting, pace.sampleEveryMs, over.signal);
  const callers = loads.flatMap((load) =>
    Array.from({ length: load.callers }, () => keepActing(stage, load, over.signal)),
  );
  const ended = Promise.allSettled([sampling, ...callers]);
  try {
    await fleet.killInTurn(pace.kills, pace.killEveryMs);
  } finally {
    over.abort();
    await ended;
  }
  return { fleet, ledger, tally, memory: await sampling, seconds: Math.round((Date.now() - begun) / 1000) };
}

async function keepActing(stage: Stage, { name, pauseMs, act }: Load, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    try {
      await act(stage, name);
      stage.tally.act(name);
    } catch (error) {
      stage.tally.problem(name, error);
    }
    await delay(pauseMs);
  }
}
