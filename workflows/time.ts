/** The workflow's time, which a replay repeats, in epoch seconds. */
export function epochSeconds(): number {
  return Date.now() / 1000;
}
