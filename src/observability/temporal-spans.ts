import { createTraceState, SpanKind, SpanStatusCode, type HrTime } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { OpenTelemetryActivityInboundInterceptor, OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry';
import type { ActivityInterceptorsFactory, InjectedSinks, WorkerOptions } from '@temporalio/worker';
import type { RunSpan, TraceSinks } from '../../workflows/tracing/interceptors.js';
import { traceOfLine, type Tracing } from './tracing.js';

/** Carries the trace into workflows that a client starts, signals, updates or asks; none while traces are off. */
export function clientInterceptors({ tracer, exporting }: Tracing): WorkflowClientInterceptor[] {
  return exporting ? [new OpenTelemetryWorkflowClientInterceptor({ tracer })] : [];
}

/** What a worker needs to go on with a trace in workflows and activities; the sink is there without traces too, as the bundle names it. */
export function workerTracing({ tracer, exporting }: Tracing): Pick<WorkerOptions, 'interceptors' | 'sinks'> {
  const sinks: InjectedSinks<TraceSinks> = {
    tracing: {
      runEnded: {
        fn: ({ workflowType, workflowId, runId }, run) => exporting?.processor.onEnd(spanOf(run, exporting.resource, { workflowType, workflowId, runId })),
        callDuringReplay: false,
      },
    },
  };
  return { sinks, ...(exporting && { interceptors: { activity: [tracedActivity(tracer)] } }) };
}

/** A run's span is over before it is told of, and so is written down whole. */
function spanOf(run: RunSpan, resource: ReadableSpan['resource'], { workflowType, workflowId, runId }: Record<'workflowType' | 'workflowId' | 'runId', string>): ReadableSpan {
  const { traceId, spanId, parentSpanId, flags, startedAt, endedAt, failed } = run;
  const context = { traceId, spanId, traceFlags: flags, traceState: createTraceState() };
  return {
    name: `RunWorkflow:${workflowType}`,
    kind: SpanKind.INTERNAL,
    spanContext: () => context,
    parentSpanId,
    startTime: hrTime(startedAt),
    endTime: hrTime(endedAt),
    duration: hrTime(endedAt - startedAt),
    status: { code: failed ? SpanStatusCode.ERROR : SpanStatusCode.OK },
    // Named as Temporal's interceptors name them.
    attributes: { temporalWorkflowId: workflowId, run_id: runId },
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationLibrary: { name: 'governed-context-service' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function hrTime(milliseconds: number): HrTime {
  return [Math.floor(milliseconds / 1000), (milliseconds % 1000) * 1e6];
}

/** A span an activity; the worker's own lines about it name the trace as well, though they are written after the span. */
function tracedActivity(tracer: Tracing['tracer']): ActivityInterceptorsFactory {
  return (ctx) => {
    const spans = new OpenTelemetryActivityInboundInterceptor(ctx, { tracer });
    let line: ReturnType<typeof traceOfLine> = {};
    return {
      inbound: {
        execute: (input, next) =>
          spans.execute(input, (within) => {
            line = traceOfLine();
            return next(within);
          }),
      },
      outbound: { getLogAttributes: (attributes, next) => next({ ...line, ...attributes }) },
    };
  };
}
