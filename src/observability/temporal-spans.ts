import { createRequire } from 'node:module';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import {
  makeWorkflowExporter,
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryActivityOutboundInterceptor,
  OpenTelemetryWorkflowClientInterceptor,
} from '@temporalio/interceptors-opentelemetry';
import type { WorkerOptions } from '@temporalio/worker';
import type { Tracing } from './tracing.js';

/** Carries the trace into workflows that a client starts, signals, updates or asks; none while traces are off. */
export function clientInterceptors({ tracer, exporting }: Tracing): WorkflowClientInterceptor[] {
  return exporting ? [new OpenTelemetryWorkflowClientInterceptor({ tracer })] : [];
}

/** The module that Temporal bundles with the workflows: spans in the sandbox, which leave it through a sink. */
export const workflowInterceptorModule = createRequire(import.meta.url).resolve('@temporalio/interceptors-opentelemetry/lib/workflow-interceptors');

/** What a worker needs to go on with a trace in workflows and activities; nothing while traces are off. */
export function workerTracing({ tracer, exporting }: Tracing): Pick<WorkerOptions, 'interceptors' | 'sinks'> {
  if (!exporting) return {};
  return {
    interceptors: {
      workflowModules: [workflowInterceptorModule],
      activity: [
        (ctx) => ({
          inbound: new OpenTelemetryActivityInboundInterceptor(ctx, { tracer }),
          outbound: new OpenTelemetryActivityOutboundInterceptor(ctx),
        }),
      ],
    },
    sinks: { exporter: makeWorkflowExporter(exporting.processor, exporting.resource) },
  };
}
