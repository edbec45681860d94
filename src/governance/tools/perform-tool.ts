import { isJsonObject } from '../../base/json.js';
import { type Principal } from '../../auth/principal.js';
import { AppError, isAppError } from '../../base/errors.js';
import type { Call, Channel, Checked } from '../kernel/call.js';
import type { Kernel, Performed } from '../kernel/perform.js';
import type { StageId } from '../kernel/stage-ids.js';
import type { Quota } from '../quota/quota.js';

import { validate } from '../../base/validation.js';
import type { Trace } from '../../http/trace.js';
import { newId } from '../../base/ids.js';
import type { Metrics } from '../../observability/metrics.js';
import { epochSeconds } from '../../base/time.js';
import { namesProject, projectRefused } from './project-fields.js';
import type { Tool, ToolContext } from './tool.js';

/** A tool call as received by REST or MCP, before any validation. */
interface ReceivedCall {
  tool: Tool;
  input: unknown;
  /** Parameters of the path, if the tool's route has any. */
  params: Readonly<Record<string, string>>;
  /** All `Authorization` headers. Node.js would silently drop all but the first. */
  authorization: readonly string[] | undefined;
  workspace: string | undefined;
  resumeToken: string | undefined;
  idempotencyKey?: string | undefined;
  /** The default is `rest`. */
  channel?: Channel;
  trace: Trace;
  signal: AbortSignal;
}

export interface ToolAnswer {
  status: 200 | 202;
  body: Record<string, unknown>;
}

export type Pipeline = (call: ReceivedCall) => Promise<ToolAnswer>;

/** The tools and the function that calls them, for REST and MCP. */
export interface GovernedTools {
  tools: readonly Tool[];
  pipeline: Pipeline;
}

interface PipelineDeps {
  kernel: Kernel;
  authenticate(authorization: readonly string[] | undefined): Promise<Principal>;
  resolveScope(principal: Principal, workspace: string | undefined): Promise<Principal>;
  quota: Quota;
  metrics: Pick<Metrics, 'admission'>;
  /** Why callers of this pipeline cannot wait for an approval. */
  cannotWait?: string;
}

/** Runs the gateway's tools as governed calls. @throws AppError with the lifecycle id */
export function createPipeline(deps: PipelineDeps): Pipeline {
  return async (received) => {
    const performed = await deps.kernel.perform(callOf(deps, received));
    const { lifecycleId } = performed;
    if ('error' in performed) throw lifecycleId === undefined ? performed.error : refusalOf(performed, lifecycleId);
    const { status, body } = performed.ending;
    return {
      status: status === 'pending_approval' || (status === 'completed' && received.tool.accepted) ? 202 : 200,
      body: { lifecycle_id: lifecycleId, ...(body as Record<string, unknown>) },
    };
  };
}

/** The stages that call the workflow service. */
const workflowServiceStages: ReadonlySet<StageId> = new Set(['S6:approval', 'S8:execute']);

function refusalOf({ error, stage }: Extract<Performed, { error: unknown }>, lifecycleId: string): AppError {
  if (!isAppError(error)) return new AppError('internal_error', 'the call failed', { lifecycleId, cause: error });
  const { code, message, facts } = error;
  if (code === 'unavailable' && workflowServiceStages.has(stage))
    return new AppError('harness_unreachable', message, { lifecycleId, cause: error });
  return new AppError(code, message, { ...facts, lifecycleId, cause: error });
}

function callOf(deps: PipelineDeps, received: ReceivedCall): Call {
  const { tool, trace, resumeToken, channel = 'rest' } = received;
  const lifecycleId = newId();
  return {
    lifecycleId,
    startedAt: epochSeconds(),
    operation: (isJsonObject(received.input) && tool.rulesFor?.(received.input)) || tool.operation,
    rawInput: received.input,
    name: tool.name,
    channel,
    traceId: trace.traceId,
    resumeToken,
    ...(deps.cannotWait !== undefined && { cannotWait: deps.cannotWait }),
    alwaysRecorded: true,
    authenticate: () => deps.authenticate(received.authorization),
    resolveScope: async (authenticated) =>
      requireProjectOfPath(received, await deps.resolveScope(authenticated, received.workspace)),
    admit: (principal) => admit(deps, principal),
    validate: (principal) => check(received, contextOf(received, principal, lifecycleId)),
  };
}

/** S2: the project in the path must be that of the credential and the workspace header. */
function requireProjectOfPath({ params }: ReceivedCall, principal: Principal): Principal {
  const { projectId: inPath = principal.projectId } = params;
  if (inPath !== principal.projectId) {
    throw new AppError('scope_denied', 'the path must name the project of the credential and the workspace header');
  }
  return principal;
}

/** Stage S3: the sliding windows of project and organization. A refused call does not count. */
async function admit({ quota, metrics }: PipelineDeps, { projectId, organizationId }: Principal): Promise<void> {
  const admission = await quota.admit({ projectId, organizationId });
  metrics.admission(admission.admitted ? 'admitted' : 'refused', admission.admitted ? 'none' : admission.scope);
  if (admission.admitted) return;
  const seconds = admission.retryAfterSeconds;
  const subject = admission.scope === 'project' ? `project ${projectId}` : `the organization of project ${projectId}`;
  throw new AppError('quota_exceeded', `the request quota of ${subject} is used up; retry in ${seconds} s`, {
    retryAfterSeconds: seconds,
  });
}

function contextOf({ signal, idempotencyKey }: ReceivedCall, principal: Principal, lifecycleId: string): ToolContext {
  const { projectId, organizationId, executionId } = principal;
  return { principal, projectId, organizationId, lifecycleId, executionId, signal, idempotencyKey, recordId: newId() };
}

/**
 * Stage S4. Refuses an input that names the project (specification, Query rules 3), validates it with the tool's
 * schema, and runs the tool's own checks (query guard, ontology).
 */
async function check({ tool, input, params }: ReceivedCall, ctx: ToolContext): Promise<Checked> {
  if (!isJsonObject(input)) throw new AppError('invalid_request', 'body: must be an object');
  const projectField = Object.keys(input).find(namesProject);
  if (projectField !== undefined) throw projectRefused(projectField);
  const { dry_run: requestedDryRun, ...fields } = input;
  if (requestedDryRun !== undefined && typeof requestedDryRun !== 'boolean')
    throw new AppError('invalid_request', 'dry_run: must be a boolean');
  const validInput = validate(tool.input, { ...fields, ...params }, 'invalid_request');
  const prepared = await tool.prepare(validInput, ctx);
  return {
    input: validInput,
    resource: tool.resource(validInput),
    dryRun: requestedDryRun ?? false,
    ...(tool.lookUp && { lookUp: async () => tool.lookUp?.(validInput, ctx) ?? {} }),
    ...(tool.boundState && { boundState: async () => tool.boundState?.(prepared, ctx) }),
    summary: () => ({ title: tool.title, fields: isJsonObject(validInput) ? validInput : {} }),
    describe: () => tool.dryRun(prepared, ctx),
    run: ({ recordId = ctx.recordId, bound }) => tool.execute(prepared, { ...ctx, recordId, bound }),
  };
}
