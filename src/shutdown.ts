import type { Logger } from './log.js';

/** The maximum time that a process may take to stop. Orchestrators wait longer. */
export const giveUpMs = 20_000;

/** Runs `close` once on SIGTERM or SIGINT, then ends the process. An unhandled rejection ends the process too. */
export function onShutdown(log: Logger, close: () => Promise<void>): void {
  let closing = false;
  const shutdown = (signal: NodeJS.Signals) => {
    if (closing) return;
    closing = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), giveUpMs).unref();
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'did not stop cleanly');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', shutdown);
  process.on('SIGINT', shutdown);
  process.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'unhandled rejection');
    process.exit(1);
  });
}
