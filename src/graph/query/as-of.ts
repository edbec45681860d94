import { AppError } from '../../errors.js';
import { createQueryGuard, type GuardedQuery } from '../guard/guard.js';
import { scopeParameter } from '../guard/containers.js';
import { reservedPrefix } from '../guard/text-bounds.js';

export const timeParameter = `${reservedPrefix}_as_of`;

const bound = new RegExp(`((?:\`(?:[^\`]|\`\`)+\`|[\\p{L}\\p{N}_]+))\\.project_id IN \\$${scopeParameter}(?![\\p{L}\\p{N}_])`, 'gu');
/**
 * The guarded query over what held at one time: facts whose validity does not include `$__guard_as_of` are bound away
 * where other projects are, so that no count and no path sees them. Entities and relationships have no such times.
 */
export function createTimedGuard(): (text: string) => GuardedQuery {
  const { guard } = createQueryGuard();
  const timed = new WeakMap<GuardedQuery, GuardedQuery>();
  return (text) => {
    if (text.includes(reservedPrefix)) throw new AppError('S4:validate-input', `A query may not hold ${reservedPrefix}`);
    const guarded = guard(text);
    const known = timed.get(guarded);
    if (known) return known;
    const asOf = { ...guarded, text: guarded.text.replace(bound, (condition, element: string) => `(${condition} AND ${held(element)})`) };
    timed.set(guarded, asOf);
    return asOf;
  };
}

/** Neither comparison can fail, whatever the element holds. */
export function held(element: string): string {
  return `coalesce(${element}._until > $${timeParameter}, true) AND coalesce(${element}._since <= $${timeParameter}, true)`;
}
