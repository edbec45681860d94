/** How long the soak lasts and how often a process dies. What is checked at the end is the same at every length. */
export interface Pace {
  /** A worker and an API process are killed in turn, so each of the two at every second beat. */
  killEveryMs: number;
  kills: number;
  sampleEveryMs: number;
  /** By what factor the memory of a process may exceed what it was before. */
  memoryGrowth: number;
}

/** Below this a process is still warming up, and only a gross leak can be told from that. */
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
