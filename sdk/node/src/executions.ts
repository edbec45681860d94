import type { Call, QueryOf } from './call.js';
import { followEvents, type FollowOptions } from './events.js';
import type { CallOptions, Transport } from './transport.js';
import type { Execution, ExecutionEvent, ModelDelta, NewExecution, PreviewDecision } from './types.js';

/** Calls about executions: `create` prepares one in the status `ready`, and `execute` starts it. */
export function createExecutions(transport: Transport, call: Call) {
  const at = (id: string) => ({ params: { execution_id: id } });
  const get = (id: string, options?: CallOptions) => call('get', '/execute_flow/{execution_id}', at(id), options);
  const events = (id: string, options?: FollowOptions) =>
    followEvents<ExecutionEvent | ModelDelta>(transport, `/execute_flow/${encodeURIComponent(id)}/events`, options);
  return {
    create: (execution: NewExecution, options?: CallOptions) =>
      call('post', '/execute_flow', { body: execution }, options),
    execute: (id: string, options?: CallOptions) =>
      call('post', '/execute_flow/{execution_id}/execute', { ...at(id), body: {} }, options),
    pause: (id: string, reason?: string, options?: CallOptions) =>
      call('post', '/execute_flow/{execution_id}/pause', { ...at(id), body: { reason } }, options),
    resume: (id: string, reason?: string, options?: CallOptions) =>
      call('post', '/execute_flow/{execution_id}/resume', { ...at(id), body: { reason } }, options),
    cancel: (id: string, reason?: string, options?: CallOptions) =>
      call('post', '/execute_flow/{execution_id}/cancel', { ...at(id), body: { reason } }, options),
    /** Decides on the proposed action of an agent while the execution waits for the decision. */
    decidePreview: (id: string, decision: PreviewDecision, options?: CallOptions) =>
      call('post', '/execute_flow/{execution_id}/preview', { ...at(id), body: decision }, options),
    /**
     * Prepares a new execution from one that has ended. With `fromAgentId`, it keeps the outputs of the agents before
     * that one.
     */
    rerun: (id: string, fromAgentId?: string, options?: CallOptions) =>
      call('post', '/execute_flow/{execution_id}/rerun', { ...at(id), body: { from_agent_id: fromAgentId } }, options),
    get,
    list: (query: QueryOf<'get', '/{projectID}/execution_flows'> = {}, options?: CallOptions) =>
      call('get', '/{projectID}/execution_flows', { query }, options),
    /** Returns the steps, their attempts and the URL of the run in the Temporal UI. */
    monitoring: (id: string, options?: CallOptions) =>
      call('get', '/execute_flow/{execution_id}/monitoring', at(id), options),
    /** Yields events as they happen, from the first one or after `lastEventId`, until the execution has ended. */
    events,
    /** Waits until the execution has completed or failed. Rejects if the signal aborts. */
    async waitForEnd(id: string, options: Pick<CallOptions, 'signal'> = {}): Promise<Execution> {
      let lastEventId: number | undefined;
      for (;;) {
        for await (const event of events(id, { ...options, ...(lastEventId !== undefined && { lastEventId }) }))
          if ('seq' in event) lastEventId = event.seq;
        const execution = await get(id, options);
        if (execution.status === 'completed' || execution.status === 'failed') return execution;
      }
    },
  };
}
