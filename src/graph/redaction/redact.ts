import { hideSecrets, redactAnswer, surveyTexts } from './redactor.js';

/**
 * Replaces personal data and credentials in a response (`redactor.ts`) without blocking the event loop. `owner` is the
 * organization whose threads it uses; callers whose responses are always small may omit it.
 */
export type Redact = <T>(answer: T, owner?: string) => Promise<T>;

/**
 * Responses that need less work are redacted directly, which is faster than copying them. A thread redacts the others.
 */
const maxInlineWork = 4096;
const valueWeight = 40;

/** @param inThread runs `redactAnswer` in a thread; its errors are thrown, so no unredacted response is returned */
export function createRedact(inThread: (answer: unknown, owner: string) => Promise<unknown>): Redact {
  return async <T>(answer: T, owner = 'small answers') => {
    const found = surveyTexts(answer, maxInlineWork);
    return found.work < maxInlineWork ? redactAnswer(answer, found) : ((await inThread(answer, owner)) as T);
  };
}

/** Like `createRedact`, but replaces only credentials. */
export function createHideSecrets(inThread: (answer: unknown, owner: string) => Promise<unknown>): Redact {
  return async <T>(answer: T, owner = 'small answers') => {
    const found = surveyTexts(answer, maxInlineWork);
    return found.work < maxInlineWork ? hideSecrets(answer, found) : ((await inThread(answer, owner)) as T);
  };
}

/** Returns the number of characters in texts and names, plus a constant for each value, counted up to `max`. */
export function weightOf(value: unknown, max = Infinity): number {
  if (typeof value === 'string') return value.length + valueWeight;
  if (typeof value !== 'object' || value === null) return valueWeight;
  let weight = valueWeight;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && weight < max; at += 1) weight += weightOf(value[at], max - weight);
    return weight;
  }
  for (const name of Object.keys(value)) {
    if (weight >= max) break;
    weight += name.length + weightOf((value as Record<string, unknown>)[name], max - weight);
  }
  return weight;
}
