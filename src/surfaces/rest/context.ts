import type { Request, Response } from 'express';
import type { Principal } from '../../auth/principal.js';
import type { CallContext } from '../../governance/operations/call-context.js';

/** The context of a handler, in addition to its validated input. */
export interface RequestContext<P extends Principal | undefined = Principal> extends CallContext<P> {
  /** Authenticates the request again, for long-lived responses. @throws AppError, for example for a revoked key */
  recheck(): Promise<void>;
  /** For streams and headers only. A plain handler returns its response. */
  req: Request;
  res: Response;
}
