import { followEvents, type FollowOptions } from './events.js';
import type { Page, PageQuery } from './page.js';
import type { Execution, ExecutionStatus, Monitoring, MovedExecution, NewExecution, PreviewDecision } from './execution-types.js';
import type { CallOptions, SendRequest, Transport } from './transport.js';

/** Executions: `create` prepares one in `ready`, `execute` starts it. */
export function createExecutions(transport: Transport, request: SendRequest) {
  const projectID = transport.workspace.projectId;
  const at = (id: string) => `/execute_flow/${encodeURIComponent(id)}`;
  const move = (id: string, name: string, reason?: string, options?: CallOptions) =>
    request<MovedExecution>('POST', `${at(id)}/${name}`, { body: reason === undefined ? {} : { reason } }, options);
  const get = (id: string, options?: CallOptions) => request<Execution>('GET', at(id), {}, options);
  const events = (id: string, options?: FollowOptions) => followEvents(transport, `${at(id)}/events`, options);
  return {
    create: (execution: NewExecution, options?: CallOptions) => request<Execution>('POST', '/execute_flow', { query: { projectID }, body: execution }, options),
    execute: (id: string, options?: CallOptions) => request<MovedExecution>('POST', `${at(id)}/execute`, { body: {} }, options),
    pause: (id: string, reason?: string, options?: CallOptions) => move(id, 'pause', reason, options),
    resume: (id: string, reason?: string, options?: CallOptions) => move(id, 'resume', reason, options),
    cancel: (id: string, reason?: string, options?: CallOptions) => move(id, 'cancel', reason, options),
    /** Decides on what an agent is about to do, while it waits for that. */
    decidePreview: (id: string, decision: PreviewDecision, options?: CallOptions) =>
      request<MovedExecution>('POST', `${at(id)}/preview`, { body: decision }, options),
    /** Prepares one that is over anew, from an agent where one is named. */
    rerun: (id: string, fromAgentId?: string, options?: CallOptions) =>
      request<Execution>('POST', `${at(id)}/rerun`, { body: fromAgentId === undefined ? {} : { from_agent_id: fromAgentId } }, options),
    get,
    list: (query: PageQuery & { status?: ExecutionStatus; agentflow_id?: string } = {}, options?: CallOptions) =>
      request<Page<Execution>>('GET', `/${encodeURIComponent(projectID)}/execution_flows`, { query: { ...query } }, options),
    /** Steps, attempts and the run in Temporal. */
    monitoring: (id: string, options?: CallOptions) => request<Monitoring>('GET', `${at(id)}/monitoring`, {}, options),
    /** Events as they happen, from the first or after `lastEventId`, until the execution is over. */
    events,
    /** Follows the execution to its end, whichever it is. Rejects when the signal aborts. */
    async waitForEnd(id: string, options: Pick<CallOptions, 'signal'> = {}): Promise<Execution> {
      let lastEventId: number | undefined;
      for (;;) {
        for await (const event of events(id, { ...options, ...(lastEventId !== undefined && { lastEventId }) })) if ('seq' in event) lastEventId = event.seq;
        const execution = await get(id, options);
        if (execution.status === 'completed' || execution.status === 'failed') return execution;
      }
    },
  };
}
