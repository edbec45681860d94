import { expect } from '@jest/globals';
import { toAppError } from '../../src/http/errors.js';
import type { SentCommand } from './mongo-wire.js';
import type { Fault, ReplicaSet } from './replica-set.js';

export const faults: { name: string; fault: Fault; times: number }[] = [
  ...(['not_primary', 'cut_before', 'cut_after', 'rolled_back'] as const).flatMap((fault) => [
    { name: `${fault} once`, fault, times: 1 },
    // The driver repeats a write once.
    { name: `${fault} twice`, fault, times: 2 },
  ]),
  { name: 'not_replicated', fault: 'not_replicated', times: 1 },
];

/** The commands of one name on a collection. */
export const to = (name: string, collection: string | RegExp) => (command: SentCommand) =>
  command.name === name && new RegExp(collection).test(command.collection);

/** Repeats only after 503, like a careful caller. Returns the value and the number of calls. */
export async function persist<T>(act: () => Promise<T>): Promise<{ value: T; tries: number }> {
  for (let tries = 1; ; tries += 1) {
    try {
      return { value: await act(), tries };
    } catch (error) {
      expect(toAppError(error).code).toBe('unavailable');
      if (tries === 10) throw error;
    }
  }
}

/** Repeats `work` under each fault in turn. */
export const everyFaultOf =
  (members: ReplicaSet) =>
  async (fits: (command: SentCommand) => boolean, work: () => Promise<void>): Promise<void> => {
    for (const { name, fault, times } of faults) {
      const met = Array.from({ length: times }, () => members.fault(fits, fault));
      try {
        await work();
      } catch (error) {
        throw new Error(`with ${name}: ${String(error)}`, { cause: error });
      }
      await Promise.all(met);
    }
  };
