import {
  context,
  diag,
  DiagLogLevel,
  propagation,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';
import type { TracingConfig } from './environment.js';

export interface Tracing {
  tracer: Tracer;
  /** Undefined without a configured export. `tracer` then creates spans that record nothing. */
  exporting: { processor: SpanProcessor; resource: Resource } | undefined;
  /** Runs `work` in a child of the active span. Without an export, only runs `work`. */
  span<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T>;
  /** Exports the remaining spans. */
  close(): Promise<void>;
}

/**
 * Creates the tracing of one process. Tracing is off, and almost free, unless the OpenTelemetry variables specify an
 * endpoint.
 */
export function createTracing(config: TracingConfig | undefined, role: string, log: Logger): Tracing {
  if (!config) {
    return {
      tracer: trace.getTracer(scope),
      exporting: undefined,
      span: (_name, _attributes, work) => work(),
      close: async () => undefined,
    };
  }
  const resource = defaultResource().merge(
    resourceFromAttributes({
      'service.name': `governed-context-service-${role}`,
      ...config.resourceAttributes,
      ...(config.serviceName && { 'service.name': config.serviceName }),
    }),
  );
  const processor = new BatchSpanProcessor(new OTLPTraceExporter({ url: config.url }));
  const provider = new BasicTracerProvider({ resource, sampler: samplerOf(config), spanProcessors: [processor] });
  // The API has one context manager and one propagator per process. Temporal's interceptors use them too.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  logExportErrors(log);
  const tracer = provider.getTracer(scope);
  return {
    tracer,
    exporting: { processor, resource },
    span: (name, attributes, work) => tracer.startActiveSpan(name, { attributes }, (span) => runInSpan(span, work)),
    close: () => provider.shutdown(),
  };
}

const scope = 'governed-context-service';

function logExportErrors(log: Logger): void {
  const say = (level: 'warn' | 'error') => (message: string) =>
    log[level]({ detail: message.slice(0, 500) }, 'trace export');
  const quiet = () => undefined;
  diag.setLogger(
    { error: say('error'), warn: say('warn'), info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

export async function runInSpan<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    markFailed(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Marks a span as failed. Records the kind of the error but not its message, which may contain user input. */
export function markFailed(span: Span, error: unknown): void {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  span.setAttribute('error.type', code ?? (error instanceof Error ? error.name : 'unknown'));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Returns the active span, or undefined if there is none or tracing is off. */
export function activeSpan(): SpanContext | undefined {
  return trace.getSpanContext(context.active());
}

export function traceLogFields(): { trace_id?: string; span_id?: string } {
  const active = activeSpan();
  return active ? { trace_id: active.traceId, span_id: active.spanId } : {};
}

/** Returns the trace context of the caller. Ignores an invalid header. */
export function remoteContext(headers: Record<string, unknown>) {
  return propagation.extract(ROOT_CONTEXT, headers);
}

function samplerOf({ sampler, samplerRatio }: TracingConfig): Sampler {
  const roots: Record<string, () => Sampler> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(samplerRatio),
  };
  const root = (roots[sampler.replace('parentbased_', '')] ?? (() => new AlwaysOnSampler()))();
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}
