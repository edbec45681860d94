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
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { Resource } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Logger } from 'pino';
import type { TracingConfig } from './environment.js';

export interface Tracing {
  tracer: Tracer;
  /** Undefined while no export is configured: then `tracer` makes spans that record nothing. */
  exporting: { processor: SpanProcessor; resource: Resource } | undefined;
  /** Runs work in a span below the active one; without export it only runs it. */
  span<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T>;
  /** Sends what is left. */
  close(): Promise<void>;
}

/** Traces of one process: off, and next to free, until OpenTelemetry's variables name where spans go. */
export function createTracing(config: TracingConfig | undefined, role: string, log: Logger): Tracing {
  if (!config) {
    return { tracer: trace.getTracer(scope), exporting: undefined, span: (_name, _attributes, work) => work(), close: async () => undefined };
  }
  const resource = Resource.default().merge(
    new Resource({ 'service.name': `governed-context-service-${role}`, ...config.resourceAttributes, ...(config.serviceName && { 'service.name': config.serviceName }) }),
  );
  const processor = new BatchSpanProcessor(new OTLPTraceExporter({ url: config.url }));
  const provider = new NodeTracerProvider({ resource, sampler: samplerOf(config), spanProcessors: [processor] });
  // Context and propagation are one a process by the API's design; Temporal's interceptors go by them as well.
  provider.register({ propagator: new W3CTraceContextPropagator() });
  sayWhatFails(log);
  const tracer = provider.getTracer(scope);
  return {
    tracer,
    exporting: { processor, resource },
    span: (name, attributes, work) => tracer.startActiveSpan(name, { attributes }, (span) => ended(span, work)),
    close: () => provider.shutdown(),
  };
}

const scope = 'governed-context-service';

function sayWhatFails(log: Logger): void {
  const say = (level: 'warn' | 'error') => (message: string) => log[level]({ detail: message.slice(0, 500) }, 'trace export');
  const quiet = () => undefined;
  diag.setLogger({ error: say('error'), warn: say('warn'), info: quiet, debug: quiet, verbose: quiet }, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

async function ended<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    failed(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** The error's kind and not its message, which may hold what a caller sent. */
export function failed(span: Span, error: unknown): void {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  span.setAttribute('error.type', code ?? (error instanceof Error ? error.name : 'unknown'));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The span that the running code is part of; undefined outside of any, and while traces are off. */
export function activeSpan(): SpanContext | undefined {
  return trace.getSpanContext(context.active());
}

/** What a log line says of the trace that it belongs to. */
export function traceOfLine(): { trace_id?: string; span_id?: string } {
  const active = activeSpan();
  return active ? { trace_id: active.traceId, span_id: active.spanId } : {};
}

/** The caller's place in a trace; an unusable header gives none. */
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
