import { isAppError, isRefusal, logLevelOf } from '../../base/errors.js';
import type { ApprovalWithToken } from '../../governance/approvals/record.js';
import type { Approvals } from '../../governance/approvals/create-approvals.js';
import { toAppError } from '../../http/errors.js';
import type { Outcome } from '../../governance/kernel/perform-operation.js';
import { performTool } from '../../governance/kernel/perform-tool.js';
import type { Deps } from '../../domain/deps.js';
import type { Authenticate } from './caller.js';
import type { CallOutcome, Exchange } from './exchange.js';
import type { Govern } from './mcp-tool.js';
import { answeredCode } from '../rest/error-answers.js';
import { refusalBody } from './rpc-errors.js';

/** Refusals that do not depend on the call itself. The same call may succeed later or with valid credentials. */
export const callIndependentRefusals: ReadonlySet<unknown> = new Set([
  'invalid_token',
  'S3:rate-quota',
  'unavailable',
  'harness_unreachable',
  'data_service_unreachable',
]);

interface GovernOptions {
  authenticate: Authenticate;
  baseUrl(): string;
  /** Returns the URL of the page where a person decides on an approval. */
  approvalPage(projectId: string, approvalId: string): string;
}

/**
 * Sends MCP tool calls through the kernel like REST calls. Each call uses the credential of its own HTTP request and
 * is recorded even if it is refused. A refusal is an outcome, not an error, because the model must be able to react to
 * it.
 */
export function createGovern(deps: Deps, { authenticate, baseUrl, approvalPage }: GovernOptions): Govern {
  const { governance, log } = deps;
  const { approvals } = governance;
  return async (tool, args, exchange) => {
    const { input, approvalId } = withoutApprovalId(args, exchange);
    const { trace, principal, ...credentials } = exchange.caller;
    let approval: ApprovalWithToken | undefined;
    try {
      approval = approvalId === undefined ? undefined : await readApproval(approvals, exchange, approvalId);
      const resumeToken =
        exchange.resume.token ?? (approvalId === undefined ? undefined : tokenOf(approval, approvalId));
      const outcome = await performTool({
        ...{ entrance: 'mcp', deps, tool, resumeToken, traceId: trace.traceId, signal: exchange.signal },
        baseUrl: baseUrl(),
        // A project in the path of a route is that of the credential.
        params: { projectId: principal.projectId },
        authenticate: () => authenticate.credential(credentials),
        resolveScope: (authenticated) => authenticate.scope(authenticated, credentials),
        read: async () => input,
      });
      if ('error' in outcome) throw outcome.error;
      return outcomeOf(outcome, (id) => approvalPage(principal.projectId, id));
    } catch (error) {
      const refusal = toAppError(error);
      if (!isRefusal(refusal)) log[logLevelOf(refusal)]({ err: error, tool: tool.name }, 'a tool call failed');
      const waited = approval && refusal.code === 'approval_refused' ? { approval_status: approval.status } : {};
      const again =
        approvalId !== undefined && callIndependentRefusals.has(answeredCode(refusal.code))
          ? { approval_id: approvalId, how_to_finish: finishWith(approvalId) }
          : {};
      return { kind: 'refusal', body: { ...refusalBody(refusal), ...waited, ...again } };
    }
  };
}

/**
 * Separates the approval id from the arguments. Models often send an empty string for an optional argument. S4 refuses
 * any other invalid value.
 */
function withoutApprovalId(received: Record<string, unknown>, { resume }: Exchange) {
  const { approval_id: named, ...input } = received;
  if (named !== undefined && typeof named !== 'string') return { input: received, approvalId: resume.approvalId };
  return { input, approvalId: resume.approvalId ?? (named === '' ? undefined : named) };
}

async function readApproval(
  approvals: Pick<Approvals, 'read'>,
  { caller }: Exchange,
  id: string,
): Promise<ApprovalWithToken | undefined> {
  try {
    return await approvals.read(caller.principal, id);
  } catch (error) {
    if (isAppError(error) && error.code === 'not_found') return undefined;
    throw error;
  }
}

/**
 * Returns the resume token of an approval. The model only sees the approval id, never the token. While the approval is
 * pending, there is no token, and S6 returns the pending approval. If a token can no longer be issued, S6 gets an
 * invalid one, which it refuses and records.
 */
function tokenOf(approval: ApprovalWithToken | undefined, approvalId: string): string | undefined {
  return approval?.status === 'pending' ? undefined : (approval?.resume_token ?? approvalId);
}

function outcomeOf({ held, value }: Outcome, pageOf: (approvalId: string) => string): CallOutcome {
  const body = value as Record<string, unknown>;
  if (!held) return { kind: 'answer', body };
  const approvalId = String(body.approval_id);
  const approvalUrl = pageOf(approvalId);
  const how_to_finish = `Nothing has been done yet. Another person decides at ${approvalUrl}. ${finishWith(approvalId)}`;
  return {
    kind: 'pending',
    body: { ...body, approval_url: approvalUrl, how_to_finish },
    approvalId,
    approvalUrl,
    expiresAt: Number(body.expires_at),
  };
}

/** Explains to the client how to finish the call, so that it does not request a second approval. */
function finishWith(approvalId: string): string {
  return `Once it is approved, call this tool again with the same arguments and approval_id "${approvalId}".`;
}
