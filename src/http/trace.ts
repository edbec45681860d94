import { context, SpanKind, SpanStatusCode, trace as traceApi } from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import type { Request, RequestHandler, Response } from 'express';
import { routeOf } from '../observability/measured.js';
import { someRandomBytes } from '../base/ids.js';
import { remoteContext, traceLogFields, type Tracing } from '../observability/tracing.js';

/** The position of a request in a distributed trace (W3C Trace Context). */
export interface Trace {
  traceId: string;
  spanId: string;
  /** Whether spans of this trace are recorded; `true` if this is unknown. */
  sampled: boolean;
  /**
   * Whether the response contains the trace: the caller sent a `traceparent`, or export is configured (specification,
   * Response headers).
   */
  echoed: boolean;
}

/** Continues the trace of the caller. An invalid header starts a new trace, as W3C Trace Context recommends. */
function traceOf(traceparent: string | undefined): Trace {
  const parent = parseTraceParent(traceparent ?? '');
  return { traceId: parent?.traceId ?? randomHex(16), spanId: randomHex(8), sampled: true, echoed: parent !== null };
}

function randomHex(bytes: number): string {
  return someRandomBytes(bytes).toString('hex');
}

/** Returns the trace of the current activity or request, or a new one if there is none. */
export function currentTrace(): Trace {
  const { trace_id, span_id } = traceLogFields();
  const newTrace = traceOf(undefined);
  return { ...newTrace, traceId: trace_id ?? newTrace.traceId, spanId: span_id ?? newTrace.spanId };
}

function traceHeaders({ traceId, spanId, sampled, echoed }: Trace): Record<string, string> {
  if (!echoed) return {};
  return {
    'X-Trace-Id': traceId,
    'Server-Timing': `traceparent;desc="00-${traceId}-${spanId}-${sampled ? '01' : '00'}"`,
  };
}

/**
 * Assigns a trace to every request and returns it in the response, also in refusals. With export configured, the
 * request is a server span and the parent of all spans of its handlers and listeners.
 */
export function traced(tracing: Tracing): RequestHandler {
  if (!tracing.exporting) {
    return (req, res, next) => {
      setTrace(res, traceOf(req.get('traceparent')));
      next();
    };
  }
  const { tracer } = tracing;
  return (req, res, next) => {
    const attributes = { 'http.request.method': req.method, 'url.scheme': req.protocol };
    const span = tracer.startSpan(req.method, { kind: SpanKind.SERVER, attributes }, remoteContext(req.headers));
    const { traceId, spanId, traceFlags } = span.spanContext();
    setTrace(res, { traceId, spanId, sampled: (traceFlags & 1) === 1, echoed: true });
    const within = traceApi.setSpan(remoteContext({}), span);
    // Listeners on the request and the response, such as the request log, belong to the trace too.
    context.bind(within, req);
    context.bind(within, res);
    res.once('close', () => {
      nameSpan(span, req, res);
      span.end();
    });
    context.with(within, next);
  };
}

function nameSpan(span: ReturnType<Tracing['tracer']['startSpan']>, req: Request, res: Response): void {
  const route = routeOf(req, res);
  span.updateName(`${req.method} ${route}`);
  span.setAttributes({ 'http.route': route, 'http.response.status_code': res.statusCode });
  if (res.statusCode >= 500 || !res.headersSent) span.setStatus({ code: SpanStatusCode.ERROR });
}

function setTrace(res: Response, trace: Trace): void {
  res.locals.trace = trace;
  res.set(traceHeaders(trace));
}

export function traceIn(res: Response): Trace {
  return res.locals.trace as Trace;
}
