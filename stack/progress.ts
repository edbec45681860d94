export type Log = (line: string) => void;

const heartbeatMs = 12_000;

/** Runs `work` and logs its progress about every 12 s. */
export async function withHeartbeat<T>(log: Log, title: string, work: () => Promise<T>): Promise<T> {
  const begun = Date.now();
  const seconds = (): number => Math.round((Date.now() - begun) / 1000);
  const timer = setInterval(() => log(`${title}: ${seconds()} s so far`), heartbeatMs);
  try {
    const result = await work();
    log(`${title}: done after ${seconds()} s`);
    return result;
  } finally {
    clearInterval(timer);
  }
}
