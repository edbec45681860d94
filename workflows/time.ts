/** Epoch seconds of the workflow's own, replayed clock. */
export function epochSeconds(): number {
  return Date.now() / 1000;
}
