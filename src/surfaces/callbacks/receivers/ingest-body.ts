import { z } from 'zod';
import { IngestInput } from '../../../graph/save/input.js';
import { checkShape, parseCallbackJson } from '../parse-body.js';
import type { RawBody } from '../callback-body.js';

/** The body of `POST /v1/catalog/ingest` with the project, which no credential determines here. */
const Body = IngestInput.safeExtend({ project_id: z.string().min(1).max(128) });

/** @throws AppError `invalid_request` */
export function readIngest({ body }: RawBody): z.output<typeof Body> {
  return checkShape(Body, parseCallbackJson(body));
}
