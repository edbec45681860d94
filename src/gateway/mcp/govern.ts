import { isAppError } from '../../errors.js';
import type { ApprovalWithToken } from '../../governance/approvals/record.js';
import type { Approvals } from '../../governance/approvals/create-approvals.js';
import { toAppError } from '../../http/errors.js';
import type { Logger } from '../../log.js';
import type { Pipeline, ToolAnswer } from '../pipeline.js';
import type { CallOutcome, Exchange } from './exchange.js';
import { pathInput, type Govern } from './mcp-tool.js';
import { refusalBody } from './rpc-errors.js';

export interface GovernDeps {
  pipeline: Pipeline;
  approvals: Pick<Approvals, 'read'>;
  log: Logger;
}

/**
 * Tool calls of MCP are calls of the pipeline like those of REST: with the credential of the HTTP request that they came
 * with, and recorded, refusals too. A refusal is an outcome, since a model is to act on it.
 */
export function createGovern({ pipeline, approvals, log }: GovernDeps): Govern {
  return async (tool, given, exchange) => {
    const { input, approvalId } = withoutApprovalId(given, exchange);
    const { authorization, workspace, trace, principal } = exchange.caller;
    let approval: ApprovalWithToken | undefined;
    try {
      approval = approvalId === undefined ? undefined : await readApproval(approvals, exchange, approvalId);
      const resumeToken = exchange.resume.token ?? (approvalId === undefined ? undefined : tokenOf(approval, approvalId));
      const call = { tool, input, params: pathInput(tool, principal), authorization, workspace, resumeToken, trace, signal: exchange.signal };
      return outcomeOf(await pipeline(call));
    } catch (error) {
      const refusal = toAppError(error);
      if (refusal.status >= 500) log.error({ err: error, tool: tool.name }, 'a tool call failed');
      const waited = approval && refusal.code === 'S6:approval' ? { approval_status: approval.status } : {};
      return { kind: 'refusal', body: { ...refusalBody(refusal), ...waited } };
    }
  };
}

/** Models send an optional argument as an empty text; any other kind of value is left for S4 to refuse. */
function withoutApprovalId(given: Record<string, unknown>, { resume }: Exchange) {
  const { approval_id: named, ...input } = given;
  if (named !== undefined && typeof named !== 'string') return { input: given, approvalId: resume.approvalId };
  return { input, approvalId: resume.approvalId ?? (named === '' ? undefined : named) };
}

async function readApproval(approvals: GovernDeps['approvals'], { caller }: Exchange, id: string): Promise<ApprovalWithToken | undefined> {
  try {
    return await approvals.read(caller.principal, id);
  } catch (error) {
    if (isAppError(error) && error.code === 'not_found') return undefined;
    throw error;
  }
}

/**
 * The token never passes through the model: its approval's id stands for it. While that is pending the call goes without, and
 * S6 answers with the approval that waits; where no token can come any more, S6 is given what it refuses and records.
 */
function tokenOf(approval: ApprovalWithToken | undefined, approvalId: string): string | undefined {
  return approval?.status === 'pending' ? undefined : (approval?.resume_token ?? approvalId);
}

function outcomeOf({ status, body }: ToolAnswer): CallOutcome {
  if (status === 200) return { kind: 'answer', body };
  const approvalId = String(body.approval_id);
  const how_to_finish = `Nothing was done yet. Once the approval is given, call this tool again with the same arguments and approval_id "${approvalId}".`;
  return { kind: 'pending', body: { ...body, how_to_finish }, approvalId, expiresAt: Number(body.expires_at) };
}
