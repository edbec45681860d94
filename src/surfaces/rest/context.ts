import type { Request, Response } from 'express';
import type { CallContext } from '../../governance/operations/call-context.js';

/** The context of a handler, in addition to its validated input. */
export interface RequestContext extends CallContext {
  /** Authenticates the request again, for long-lived responses. @throws AppError, for example for a revoked key */
  recheck(): Promise<void>;
  /** For streams and headers only. A plain handler returns its response. */
  req: Request;
  res: Response;
}
