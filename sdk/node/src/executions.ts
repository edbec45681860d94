import { followEvents, type FollowOptions } from './events.js';
import { createExecutionsMethods, type ExecutionsMethods, type Send } from './methods.js';
import type { CallOptions, Transport } from './transport.js';
import type { Execution, ExecutionStreamEvent } from './types.js';

/** Calls about executions: `create` prepares one in the status `ready`, and `execute` starts it. */
export interface Executions extends ExecutionsMethods {
  /**
   * Yields events as they happen, from the first one or after `lastEventId`, until the execution has ended. `type` tells
   * what `data` contains.
   * @param id - The id of the execution.
   * @param options - Where to begin, and a signal that ends the stream.
   */
  events(id: string, options?: FollowOptions): AsyncGenerator<ExecutionStreamEvent, void, undefined>;
  /**
   * Waits until the execution has completed or failed. Rejects if the signal aborts.
   * @param id - The id of the execution.
   * @param options - A signal that ends the wait.
   */
  waitForEnd(id: string, options?: Pick<CallOptions, 'signal'>): Promise<Execution>;
}

export function createExecutions(transport: Transport, send: Send): Executions {
  const methods = createExecutionsMethods(send);
  const events: Executions['events'] = (id, options) =>
    followEvents<ExecutionStreamEvent>(transport, `/execute_flow/${encodeURIComponent(id)}/events`, options);
  return {
    ...methods,
    events,
    async waitForEnd(id, options = {}) {
      let lastEventId: number | undefined;
      for (;;) {
        for await (const event of events(id, { ...options, ...(lastEventId !== undefined && { lastEventId }) }))
          if ('seq' in event) lastEventId = event.seq;
        const execution = await methods.get(id, options);
        if (execution.status === 'completed' || execution.status === 'failed') return execution;
      }
    },
  };
}
