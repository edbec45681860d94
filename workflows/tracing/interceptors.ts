import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { ContinueAsNew, proxySinks, workflowInfo, type Sinks, type WorkflowInterceptors } from '@temporalio/workflow';

/** The header that Temporal's OpenTelemetry interceptors read and write in clients and activities. */
const traceHeader = '_tracer-data';
const traceparentForm = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** One run of a workflow as a span. Times are epoch milliseconds. */
export interface RunSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  flags: number;
  startedAt: number;
  endedAt: number;
  failed: boolean;
}

export interface TraceSinks extends Sinks {
  tracing: { runEnded(span: RunSpan): void };
}

/**
 * Passes a run's trace to its activities, children and next runs, and reports the run when it ends. It never waits and uses
 * no random numbers, so that a run replays identically whether tracing is on or off (decision 0006).
 */
export function interceptors(): WorkflowInterceptors {
  let outgoing: Headers = {};
  const withTrace = <T extends { headers: Headers }>(input: T): T => ({
    ...input,
    headers: { ...input.headers, ...outgoing },
  });
  return {
    inbound: [
      {
        execute(input, next) {
          const begun = begin(input.headers);
          if (begun)
            outgoing = { [traceHeader]: defaultPayloadConverter.toPayload({ traceparent: traceparentOf(begun) }) };
          const running = next(input);
          if (begun)
            running.then(
              () => end(begun, false),
              (error: unknown) => end(begun, !(error instanceof ContinueAsNew)),
            );
          return running;
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withTrace(input)),
        scheduleLocalActivity: (input, next) => next(withTrace(input)),
        startChildWorkflowExecution: (input, next) => next(withTrace(input)),
        signalWorkflow: (input, next) => next(withTrace(input)),
        continueAsNew: (input, next) => next(withTrace(input)),
      },
    ],
  };
}

type Begun = Omit<RunSpan, 'endedAt' | 'failed'>;

/** The span id is part of the run id, which is random and the same in every replay. */
function begin(headers: Headers): Begun | undefined {
  const payload = headers[traceHeader];
  const carrier = payload && defaultPayloadConverter.fromPayload<{ traceparent?: string }>(payload);
  const [, traceId, parentSpanId, flags] = traceparentForm.exec(carrier?.traceparent ?? '') ?? [];
  if (traceId === undefined || parentSpanId === undefined || flags === undefined) return undefined;
  const { runId, runStartTime } = workflowInfo();
  const spanId = runId.replaceAll('-', '').slice(-16);
  return { traceId, parentSpanId, flags: parseInt(flags, 16), spanId, startedAt: runStartTime.getTime() };
}

function traceparentOf({ traceId, spanId, flags }: Begun): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
}

function end(begun: Begun, failed: boolean): void {
  proxySinks<TraceSinks>().tracing.runEnded({ ...begun, endedAt: Date.now(), failed });
}
