/** The topic `errors` of docs (specification, Errors: status codes and retry rules). */
export const errorDocs = [
  { error: 'invalid_request', status: 400, when: 'the body is not JSON, or a field is missing or of the wrong type', retry: 'never' },
  { error: 'invalid_token', status: 401, when: 'the credential is missing, malformed, revoked or of the wrong kind', retry: 'never' },
  { error: 'S2:resolve-scope', status: 403, when: 'the grant is missing, or the project is out of reach', retry: 'never' },
  { error: 'S3:rate-quota', status: 429, when: 'the request window is used up', retry: 'after Retry-After, plus a small random time' },
  { error: 'S4:validate-input', status: 422, when: 'the payload or the query does not pass validation', retry: 'never' },
  { error: 'S5:policy', status: 403, when: 'a policy forbids the call', retry: 'never' },
  { error: 'S6:approval', status: 403, when: 'the resume token is rejected', retry: 'never' },
  { error: 'S7:dry-run', status: 422, when: 'the dry run found that the call cannot be done', retry: 'never' },
  { error: 'S8:execute', status: 504, when: 'the query ran past its timeout', retry: 'with backoff' },
  { error: 'not_found', status: 404, when: 'there is no such thing in the project', retry: 'never' },
  { error: 'conflict', status: 409, when: 'the state does not allow it', retry: 're-read the state first' },
  { error: 'data_service_unreachable', status: 502, when: 'the graph database does not answer', retry: 'with backoff' },
  { error: 'harness_unreachable', status: 502, when: 'the workflow service does not answer', retry: 'with backoff' },
  { error: 'unavailable', status: 503, when: 'a part of the deployment is missing', retry: 'never' },
] as const;

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
