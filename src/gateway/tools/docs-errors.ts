import { AppError, type ErrorCode } from '../../errors.js';
import { errorTexts } from '../../http/openapi/error-texts.js';

/** What a caller of the gateway may do after each code (specification, Errors: retry rules). */
const retries: readonly { error: ErrorCode; status?: number; retry: string }[] = [
  { error: 'invalid_request', retry: 'never' },
  { error: 'invalid_token', retry: 'never' },
  { error: 'S2:resolve-scope', retry: 'never' },
  { error: 'S3:rate-quota', retry: 'after Retry-After, plus a small random time' },
  { error: 'S4:validate-input', retry: 'never' },
  { error: 'S5:policy', retry: 'never' },
  { error: 'S6:approval', retry: 'never' },
  { error: 'S7:dry-run', retry: 'never' },
  { error: 'S8:execute', retry: 'never' },
  { error: 'S8:execute', status: 504, retry: 'with backoff' },
  { error: 'not_found', retry: 'never' },
  { error: 'conflict', retry: 're-read the state first' },
  { error: 'payload_too_large', retry: 'never' },
  { error: 'validation_failed', retry: 'never' },
  { error: 'plan_limit', retry: 'never' },
  { error: 'data_service_unreachable', retry: 'with backoff' },
  { error: 'harness_unreachable', retry: 'with backoff' },
  { error: 'unavailable', retry: 'never' },
];

/** The topic `errors` of docs. */
export const errorDocs = retries.map(({ error, status = new AppError(error, '').status, retry }) => ({ error, status, when: errorTexts[error].when, retry }));

/** The stages of a governed call in their order (specification, Governed pipeline). */
export const stageDocs = [
  { stage: 'S1:authenticate', does: 'verifies the credential' },
  { stage: 'S2:resolve-scope', does: 'resolves organization, project and role, and checks the grant' },
  { stage: 'S3:rate-quota', does: 'checks the request windows' },
  { stage: 'S4:validate-input', does: 'validates payload and query' },
  { stage: 'S5:policy', does: 'evaluates the policies' },
  { stage: 'S6:approval', does: 'asks for an approval, or takes its resume token' },
  { stage: 'S7:dry-run', does: 'tells what would be done' },
  { stage: 'S8:execute', does: 'does it' },
] as const;
