import type { Exchanges } from '../../src/domain/executions/exchanges.js';

/** For activities whose exchanges no test reads. */
export const noExchanges: Exchanges = {
  begin: () => ({ note: () => undefined, end: () => undefined }),
  flush: () => Promise.resolve(),
};
