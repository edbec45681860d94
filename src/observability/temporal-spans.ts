import { createTraceState, SpanKind, SpanStatusCode, type HrTime } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import {
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryWorkflowClientInterceptor,
} from '@temporalio/interceptors-opentelemetry-v2';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { RunSpan, TraceSinks } from '../../workflows/tracing/interceptors.js';
import { traceLogFields, type Tracing } from './tracing.js';

/**
 * Returns interceptors that propagate the trace to workflows that a client starts, signals, updates or queries. Returns
 * none while tracing is off.
 */
export function clientInterceptors({ tracer, exporting }: Tracing): WorkflowClientInterceptor[] {
  return exporting ? [new OpenTelemetryWorkflowClientInterceptor({ tracer })] : [];
}

interface WorkerTracing {
  sinks: InjectedSinks<TraceSinks>;
  activity: ActivityInterceptorsFactory[];
}

/**
 * Continues traces in workflows and activities. The sink exists even without tracing, because the workflow bundle
 * refers to it.
 */
export function workerTracing({ tracer, exporting }: Tracing): WorkerTracing {
  const sinks: InjectedSinks<TraceSinks> = {
    tracing: {
      runEnded: {
        fn: ({ workflowType, workflowId, runId }, run) =>
          exporting?.processor.onEnd(spanOf(run, exporting.resource, { workflowType, workflowId, runId })),
        callDuringReplay: false,
      },
    },
  };
  return { sinks, activity: exporting ? [tracedActivity(tracer)] : [] };
}

/** Converts the span of a run. The workflow reports it after the run has ended, so all fields are known. */
function spanOf(
  run: RunSpan,
  resource: ReadableSpan['resource'],
  { workflowType, workflowId, runId }: Record<'workflowType' | 'workflowId' | 'runId', string>,
): ReadableSpan {
  const { traceId, spanId, parentSpanId, flags, startedAt, endedAt, failed } = run;
  const context = { traceId, spanId, traceFlags: flags, traceState: createTraceState() };
  return {
    name: `RunWorkflow:${workflowType}`,
    kind: SpanKind.INTERNAL,
    spanContext: () => context,
    parentSpanContext: { ...context, spanId: parentSpanId, isRemote: true },
    startTime: hrTime(startedAt),
    endTime: hrTime(endedAt),
    duration: hrTime(endedAt - startedAt),
    status: { code: failed ? SpanStatusCode.ERROR : SpanStatusCode.OK },
    // Use the attribute names of Temporal's interceptors.
    attributes: { temporalWorkflowId: workflowId, run_id: runId },
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: { name: 'governed-context-service' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function hrTime(milliseconds: number): HrTime {
  return [Math.floor(milliseconds / 1000), (milliseconds % 1000) * 1e6];
}

/**
 * Creates a span for each activity. Keeps its trace ids, because the worker logs some lines after the span has ended.
 */
function tracedActivity(tracer: Tracing['tracer']): ActivityInterceptorsFactory {
  return (ctx) => {
    const spans = new OpenTelemetryActivityInboundInterceptor(ctx, { tracer });
    let line: ReturnType<typeof traceLogFields> = {};
    return {
      inbound: {
        execute: (input, next) =>
          spans.execute(input, (within) => {
            line = traceLogFields();
            return next(within);
          }),
      },
      outbound: { getLogAttributes: (attributes, next) => next({ ...line, ...attributes }) },
    };
  };
}
