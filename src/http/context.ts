import type { Request, Response } from 'express';
import type { Principal } from '../auth/principal.js';
import type { Logger } from '../log.js';

/** What a handler knows of the request beside its validated input. */
export interface RequestContext<P extends Principal | undefined = Principal> {
  principal: P;
  requestId: string;
  /** The id for the record that this request makes; the same again when an `Idempotency-Key` is sent again. */
  recordId: string;
  idempotencyKey: string | undefined;
  log: Logger;
  /** Only for streams and headers; a plain handler returns its answer. */
  req: Request;
  res: Response;
}
