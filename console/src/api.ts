import { createCall } from '@client/call.js';
import type { components } from '@client/openapi.js';
import { ServiceError, type ErrorBody } from '@client/service-error.js';
import type { CallOptions, Outgoing, Transport } from '@client/transport.js';
import { apiAddress, csrfToken, projectId, waitForSignIn } from './session.js';

export type Execution = components['schemas']['Execution'];
export type Release = components['schemas']['Release'];
export type Promotion = components['schemas']['Promotion'];
export type Monitoring = components['schemas']['ExecutionMonitoring'];
export type Step = Monitoring['steps'][number];
export type StepExchange = components['schemas']['StepExchange'];
export type InboxItem = components['schemas']['InboxItem'];
export type MemoryReview = components['schemas']['MemoryReview'];
export type ReviewStatement = components['schemas']['ReviewStatement'];
export type Connector = components['schemas']['Connector'];
export type ConnectorTest = components['schemas']['ConnectorTest'];
export type McpTool = components['schemas']['McpTool'];
export type Table = components['schemas']['Table'];
export type Column = components['schemas']['Column'];
export type TableRecord = components['schemas']['TableRecord'];
export type Syncs = components['schemas']['Syncs'];
export type ListedFile = components['schemas']['ListedFile'];
export type Lifecycle = components['schemas']['Lifecycle'];
export type Approval = components['schemas']['Approval'];
/** With the call, for approvers and auditors. */
export type FullApproval = components['schemas']['ApprovalWithToken'];
export type AuditEntry = components['schemas']['ListedAuditEntry'];
export type OwnSession = components['schemas']['OwnSession'];
export type ConnectedApp = components['schemas']['ConnectedApp'];
export type PolicyRule = components['schemas']['PolicyRule'];
export type PolicySet = components['schemas']['PolicySet'];
export type Member = components['schemas']['Member'];
export type Invitation = components['schemas']['Invitation'];
export type InvitationWithLink = components['schemas']['InvitationWithLink'];
export type ApiKey = components['schemas']['ApiKey'];
export type Grant = ApiKey['scope']['grants'][number];
export type Project = components['schemas']['Project'];
export type Settings = components['schemas']['Settings'];
export type ContextAnswer = components['schemas']['ContextAnswer'];
export type ExecutionEvent = components['schemas']['ExecutionEvent'];

type Init = Omit<RequestInit, 'headers'>;

/**
 * Sends one API request with the console's cookie. If the session has ended, the request waits until the person has
 * signed in again.
 * @throws ServiceError for any other error response
 */
export async function send(
  path: string,
  init: Init & { headers?: Record<string, string> },
  request: (url: URL, init: Init & { headers: Record<string, string> }) => Promise<Response> = fetch,
): Promise<Response> {
  for (;;) {
    const token = csrfToken();
    const headers = { ...init.headers, 'x-csrf-token': token, 'x-service-workspace': `ws_${projectId}` };
    const response = await request(new URL(path.slice(1), apiAddress), { ...init, headers });
    if (response.ok) return response;
    if (response.status !== 401) throw await errorOf(response);
    await waitForSignIn(token);
  }
}

async function errorOf(response: Response): Promise<ServiceError> {
  const text = await response.text();
  try {
    return new ServiceError(response.status, JSON.parse(text) as ErrorBody);
  } catch {
    return new ServiceError(response.status);
  }
}

/** Creates an idempotency key, which all retries of one request share. `randomUUID` would require HTTPS. */
export function newIdempotencyKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

async function transportCall<T>(_surface: string, outgoing: Outgoing, options: CallOptions = {}): Promise<T> {
  const { method, path, query = {}, body, takesKey } = outgoing;
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const search = new URLSearchParams(parameters).toString();
  const response = await send(search === '' ? path : `${path}?${search}`, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(takesKey && { 'idempotency-key': options.idempotencyKey ?? newIdempotencyKey() }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(options.signal && { signal: options.signal }),
  });
  const answer = (await response.json()) as T & ErrorBody;
  if (response.status === 202)
    throw new ServiceError(202, {
      ...answer,
      error: 'pending_approval',
      error_description: `another person must approve this first, because a policy requires it (approval ${answer.approval_id ?? ''})`,
    });
  return answer;
}

/** Calls any operation of the API in the project of this page, like the TypeScript client. */
export const call = createCall({ workspace: { projectId }, call: transportCall } as unknown as Transport);

export function messageOf(error: unknown): string {
  if (error instanceof TypeError) return 'The service cannot be reached.';
  if (!(error instanceof ServiceError)) return error instanceof Error ? error.message : String(error);
  return capitalized(error.error_description || `The service returned status ${error.status}.`);
}

/** Creates a validation error in the format of the API, so that the form shows it at the field of the path. */
export const validationError = (path: string, text: string): ServiceError =>
  new ServiceError(400, { error: 'invalid_request', error_description: `${path}: ${text}` });

/** Returns the text of a validation error from the API; undefined for any other error. */
export const validationTextOf = (error: unknown): string | undefined =>
  error instanceof ServiceError && (error.status === 400 || error.status === 422) ? error.error_description : undefined;

/** Writes a code of the API, such as `pending_approval`, as words. */
export const inWords = (code: string): string =>
  code.replaceAll('_', ' ').replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Capitalizes a text of the API that begins a sentence. */
export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Whether the record was changed by somebody else, or does not allow the action in its state. */
export const isConflict = (error: unknown): boolean => error instanceof ServiceError && error.status === 409;

/** Whether the service responded. A corrected request then needs a new idempotency key. */
export const isResponse = (error: unknown): boolean => error instanceof ServiceError;

export const lifecycleOf = (error: unknown): string | undefined =>
  error instanceof ServiceError ? error.lifecycle_id : undefined;
