import { setTimeout as delay } from 'node:timers/promises';
import { apiClient, type Answer } from '../../support/client.js';
import type { Tally } from './tally.js';

interface Call {
  path: string;
  body: unknown;
  headers: Record<string, string>;
}

export interface Balanced {
  /**
   * Calls like a client behind a load balancer, under the retry rules of the specification: after 429, when `Retry-After` has
   * passed; after a refused or broken connection, at the next process. The caller handles every other answer.
   */
  post(load: string, call: Call): Promise<Answer>;
  /** The process that gets the next connection. It may have just died, until its replacement runs. */
  next(): string;
}

const patienceMs = 90_000;

export function createBalanced(urls: () => readonly string[], tally: Tally): Balanced {
  let turn = 0;
  const next = () => {
    const known = urls();
    turn += 1;
    return known[turn % known.length] ?? '';
  };
  return {
    next,
    async post(load, { path, body, headers }) {
      const deadline = Date.now() + patienceMs;
      for (let attempt = 0; ; attempt += 1) {
        if (Date.now() > deadline) throw new Error(`POST ${path} had no answer in ${patienceMs} ms`);
        const answer = await apiClient(next()).post(path, body, headers).catch(whenBroken);
        if (answer === undefined) {
          tally.broken(load);
          await delay(fullJitterMs(attempt));
          continue;
        }
        tally.answer(load, answer.status, answer.status < 400 ? undefined : String(answer.body?.error));
        if (answer.status !== 429) return answer;
        await delay(Number(answer.headers.get('retry-after')) * 1000 + Math.random() * 250);
      }
    },
  };
}

/**
 * The error of fetch if nobody listens or the connection breaks. Its message distinguishes it from other TypeErrors.
 */
export function isBroken(error: unknown): boolean {
  return ['TypeError: fetch failed', 'TypeError: terminated'].includes(String(error));
}

function whenBroken(error: unknown): undefined {
  if (!isBroken(error)) throw error;
}

/** The next process is tried immediately; after both have failed, a wait is drawn (specification, Retry rules, 3). */
function fullJitterMs(attempt: number): number {
  return attempt === 0 ? 0 : Math.random() * Math.min(2 ** (attempt - 1), 60) * 1000;
}
