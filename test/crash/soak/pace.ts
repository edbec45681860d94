/** The length of the soak and the interval of the kills. The final checks are the same for every length. */
export interface Pace {
  /** A worker and an API process are killed alternately, so each of them at every second interval. */
  killEveryMs: number;
  kills: number;
  sampleEveryMs: number;
  /** The allowed growth factor of the memory of a process. */
  memoryGrowth: number;
}

/** Below this, a process is still warming up, and only a large leak is detectable. */
const longMinutes = 10;

export function paceOf(minutes: number): Pace {
  if (!(minutes > 0)) throw new Error('SOAK_MINUTES: a number of minutes above 0 is needed');
  const isLong = minutes >= longMinutes;
  const killEveryMs = isLong ? 60_000 : 12_000;
  return {
    killEveryMs,
    kills: Math.max(2, Math.floor((minutes * 60_000) / killEveryMs) - 1),
    sampleEveryMs: isLong ? 5000 : 500,
    memoryGrowth: isLong ? 1.15 : 1.5,
  };
}
