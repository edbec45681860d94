const maxRestarts = 5;
const windowMs = 10 * 60_000;

/** Allows 5 restarts of a process within 10 minutes. A process that ends more often needs attention. */
export function createRestartLimit(): { allows(): boolean } {
  let restarts: number[] = [];
  return {
    allows() {
      const now = Date.now();
      restarts = restarts.filter((at) => at > now - windowMs);
      if (restarts.length >= maxRestarts) return false;
      restarts.push(now);
      return true;
    },
  };
}

/** The log text for a process that exceeded the limit. */
export const restartLimitText = `ended more than ${maxRestarts} times within ${windowMs / 60_000} minutes`;
