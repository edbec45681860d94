import { OAuthError } from '@modelcontextprotocol/client';
import { isJsonObject, parseJsonOrUndefined } from '../base/json.js';
import { withDeadline } from './deadline.js';
import type { HttpClient } from './http-client.js';
import { isOutboundError, OutboundError } from './outbound-error.js';
import { withoutNulls } from './without-nulls.js';

const maxBytes = 256 * 1024;
const timeoutMs = 20_000;
const maxTextLength = 300;

export type Fetch = typeof fetch;

/**
 * Applies the guard and one time limit to all requests. Libraries hide the errors of `fetch`, so the first failure is
 * thrown.
 */
export async function withGuardedFetch<T>(http: Pick<HttpClient, 'fetchWith'>, work: (fetchFn: Fetch) => Promise<T>) {
  const failures: OutboundError[] = [];
  const guarded = http.fetchWith({ maxBytes, failed: (error) => void failures.push(error) });
  return withDeadline({ timeoutMs, signal: new AbortController().signal }, async (signal) => {
    const fetchFn: Fetch = async (input, init) => readable(await guarded(input, { ...init, signal }));
    const result = await work(fetchFn).catch((error: unknown) => {
      throw failures[0] ?? outboundErrorOf(error);
    });
    if (failures[0]) throw failures[0];
    return result;
  });
}

/**
 * An answer in which members that are null are absent, because many servers write null for an absent member. A token
 * without a type is a bearer token: this product requests no other.
 */
async function readable(response: Response): Promise<Response> {
  const { status, statusText, headers } = response;
  if (!(headers.get('content-type') ?? '').includes('json')) return response;
  const text = await response.text();
  const parsed = parseJsonOrUndefined(text);
  if (!isJsonObject(parsed)) return new Response(text, { status, statusText, headers });
  const members = withoutNulls(parsed);
  if (typeof members.access_token === 'string') members.token_type ??= 'Bearer';
  return new Response(JSON.stringify(members), { status, statusText, headers });
}

const passing: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable', 'too_many_requests']);

/** Keeps only the codes of library errors, because their messages can contain sent data. */
function outboundErrorOf(error: unknown): unknown {
  if (isOutboundError(error)) return error;
  if (error instanceof OAuthError) {
    const code = error.code.replace(/[^a-z_]/g, '').slice(0, 60);
    if (passing.has(code)) return new OutboundError('action_unavailable', `the authorization server answered ${code}`);
    return refusal(`refused: ${code}`);
  }
  if (!(error instanceof Error)) return error;
  if (error.name === 'IssuerMismatchError') return refusal('is not the one that was asked (issuer)');
  return refusal(`cannot be used (${fieldIn(error) ?? error.name})`);
}

/** The field that a validator refused, and why. The value is left out. */
function fieldIn(error: Error): string | undefined {
  if (!('issues' in error) || !Array.isArray(error.issues)) return undefined;
  const [issue] = error.issues as unknown[];
  if (!isJsonObject(issue) || !Array.isArray(issue.path)) return undefined;
  return `${issue.path.join('.')}: ${String(issue.message)}`.slice(0, maxTextLength);
}

export function refusal(what: string): OutboundError {
  return new OutboundError('action_refused', `the authorization server of the MCP server ${what}`);
}
