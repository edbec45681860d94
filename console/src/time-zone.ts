import { useSyncExternalStore } from 'react';
import { keptInBrowser } from './kept.js';

const name = 'console.time-zone';
const listeners = new Set<() => void>();

/** The zone of the browser. */
export const ownTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The IANA time zone that the person has chosen on this device; undefined for that of the browser. */
export function storedTimeZone(): string | undefined {
  return keptInBrowser.read(name);
}

/** Undefined chooses the zone of the browser. */
export function storeTimeZone(zone: string | undefined): void {
  keptInBrowser.keep(name, zone);
  for (const listener of listeners) listener();
}

/** The time zone in which times are shown; undefined for that of the browser. */
export function useTimeZone(): string | undefined {
  const zone = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, storedTimeZone);
  // A zone that this browser does not know must not break the page.
  return zone !== undefined && timeZones().includes(zone) ? zone : undefined;
}

let known: string[] | undefined;
/** The zones that this browser knows. */
export const timeZones = (): readonly string[] => (known ??= Intl.supportedValuesOf('timeZone'));

type Formats = Record<'day' | 'time' | 'minute' | 'weekday' | 'whole', Intl.DateTimeFormat>;
const formatsByZone = new Map<string | undefined, Formats>();

/** How times are written in a zone. Formats are expensive to create, and a list has many times. */
export function timeFormats(timeZone: string | undefined): Formats {
  const formats = formatsByZone.get(timeZone) ?? {
    day: new Intl.DateTimeFormat(undefined, { timeZone }),
    time: new Intl.DateTimeFormat(undefined, { timeZone, timeStyle: 'medium' }),
    minute: new Intl.DateTimeFormat(undefined, { timeZone, timeStyle: 'short' }),
    weekday: new Intl.DateTimeFormat(undefined, { timeZone, weekday: 'long' }),
    whole: new Intl.DateTimeFormat(undefined, { timeZone, dateStyle: 'full', timeStyle: 'long' }),
  };
  formatsByZone.set(timeZone, formats);
  return formats;
}
