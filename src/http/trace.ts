import { randomBytes } from 'node:crypto';
import { context, SpanKind, SpanStatusCode, trace as traceApi } from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import type { Request, RequestHandler, Response } from 'express';
import { routeOf } from '../observability/measured.js';
import { remoteContext, traceOfLine, type Tracing } from '../observability/tracing.js';

/** The request's place in a distributed trace (W3C Trace Context). */
export interface Trace {
  traceId: string;
  spanId: string;
  /** Whether spans of this trace are recorded; `true` as well where we do not know and only hand it on. */
  sampled: boolean;
  /** The answer names the trace: its caller sent a `traceparent`, or we export (specification, Response headers). */
  echoed: boolean;
}

/** Continues the caller's trace; an unusable header begins a new one, as the recommendation asks. */
function traceOf(traceparent: string | undefined): Trace {
  const given = parseTraceParent(traceparent ?? '');
  return { traceId: given?.traceId ?? randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex'), sampled: true, echoed: given !== null };
}

/** The trace of what runs now, such as an activity; a new one where nothing is traced. */
export function presentTrace(): Trace {
  const { trace_id, span_id } = traceOfLine();
  const fresh = traceOf(undefined);
  return { ...fresh, traceId: trace_id ?? fresh.traceId, spanId: span_id ?? fresh.spanId };
}

function traceHeaders({ traceId, spanId, sampled, echoed }: Trace): Record<string, string> {
  if (!echoed) return {};
  return {
    'X-Trace-Id': traceId,
    'Server-Timing': `traceparent;desc="00-${traceId}-${spanId}-${sampled ? '01' : '00'}"`,
  };
}

/**
 * Gives every request its trace, and echoes it, on refusals as well. With export configured the request is a server
 * span, and what its handlers and listeners do happens below it.
 */
export function traced(tracing: Tracing): RequestHandler {
  if (!tracing.exporting) {
    return (req, res, next) => {
      keep(res, traceOf(req.get('traceparent')));
      next();
    };
  }
  const { tracer } = tracing;
  return (req, res, next) => {
    const attributes = { 'http.request.method': req.method, 'url.scheme': req.protocol };
    const span = tracer.startSpan(req.method, { kind: SpanKind.SERVER, attributes }, remoteContext(req.headers));
    const { traceId, spanId, traceFlags } = span.spanContext();
    keep(res, { traceId, spanId, sampled: (traceFlags & 1) === 1, echoed: true });
    const within = traceApi.setSpan(remoteContext({}), span);
    // The listeners of request and answer, the log's among them, belong to the request too.
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

function keep(res: Response, trace: Trace): void {
  res.locals.trace = trace;
  res.set(traceHeaders(trace));
}

export function traceIn(res: Response): Trace {
  return res.locals.trace as Trace;
}
