import { randomBytes } from 'node:crypto';
import type { RequestHandler, Response } from 'express';

/** The request's place in a distributed trace (W3C Trace Context). */
export interface Trace {
  traceId: string;
  spanId: string;
  /** The caller sent a `traceparent`, so the answer echoes the trace (specification, Response headers). */
  continued: boolean;
}

const traceparentForm = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

/** Continues the caller's trace; an unusable header begins a new one, as the recommendation asks. */
export function traceOf(traceparent: string | undefined): Trace {
  const given = traceparentForm.exec(traceparent ?? '')?.[1];
  const continued = given !== undefined && !/^0+$/.test(given);
  return { traceId: continued ? given : randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex'), continued };
}

function traceHeaders(trace: Trace): Record<string, string> {
  if (!trace.continued) return {};
  return {
    'X-Trace-Id': trace.traceId,
    'Server-Timing': `traceparent;desc="00-${trace.traceId}-${trace.spanId}-01"`,
  };
}

/** Gives every request its trace and echoes the caller's, on refusals as well. */
export const traced: RequestHandler = (req, res, next) => {
  const trace = traceOf(req.get('traceparent'));
  res.locals.trace = trace;
  res.set(traceHeaders(trace));
  next();
};

export function traceIn(res: Response): Trace {
  return res.locals.trace as Trace;
}
