import { useSyncExternalStore } from 'react';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Says how far a time is from now, both in epoch seconds; undefined for a day and more. */
export function relativeText(at: number, now: number): string | undefined {
  const distance = Math.abs(at - now);
  if (distance >= day) return undefined;
  const isPast = at <= now;
  if (distance < minute) return isPast ? 'just now' : 'in a moment';
  const text = distance < hour ? `${Math.floor(distance / minute)} min` : `${Math.floor(distance / hour)} h`;
  return isPast ? `${text} ago` : `in ${text}`;
}

/** Whether the weekday alone names the day of a time. */
export const isWithinWeek = (at: number, now: number): boolean => Math.abs(at - now) < 6 * day;

const tickMs = 30_000;
const listeners = new Set<() => void>();
let ticks = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    ticks += 1;
    for (const each of listeners) each();
  }, tickMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Renders the component again from time to time. All of them share one timer. */
export function useTicks(): number {
  return useSyncExternalStore(subscribe, () => ticks);
}
