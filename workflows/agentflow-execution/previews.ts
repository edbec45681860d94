import { agentDefaults, type AgentflowExecutionInput, type AgentPlan, type ExecutionState } from './messages.js';
import type { PathState } from './path-state.js';
import { idInPath, pathsOf } from './paths.js';
import type { PreviewDecision } from './preview-messages.js';
import type { Preview, PreviewEdits, ProposedAction } from './preview-record.js';
import { addEvent, fail, shownPath } from './state.js';

/** `at` is in epoch seconds. */
interface Proposal {
  previewId: string;
  proposed: Preview['proposed'];
  at: number;
}

export function requestPreview(
  state: ExecutionState,
  path: PathState,
  agent: AgentPlan,
  { previewId, proposed, at }: Proposal,
): void {
  const expires_at = at + (agent.preview_timeout_seconds ?? agentDefaults.preview_timeout_seconds);
  const kind = Array.isArray(proposed) ? 'actions' : 'output';
  state.has_waited = true;
  state.previews[idInPath(path, agent._id)] = {
    preview_id: previewId,
    agent_id: agent._id,
    title: agent.title,
    status: 'waiting',
    kind,
    proposed,
    edits: null,
    requested_at: at,
    expires_at,
    decided_by: null,
    decided_at: null,
    ...shownPath(path),
  };
  const { _id: agent_id, title } = agent;
  addEvent(state, 'preview_requested', at, { agent_id, title, kind, expires_at, ...shownPath(path) });
}

/** The last preview of an agent on a path. */
export function previewOn({ previews }: Pick<ExecutionState, 'previews'>, path: PathState, agentId: string) {
  return previews[idInPath(path, agentId)];
}

/** The preview that a decision names. Without its id, the only one of the agent that waits. */
function previewDecided(
  { previews }: Pick<ExecutionState, 'previews'>,
  { agent_id, preview_id }: Pick<PreviewDecision, 'agent_id' | 'preview_id'>,
): Preview | undefined {
  const ofAgent = Object.values(previews).filter((preview) => preview.agent_id === agent_id);
  const named = ofAgent.find((preview) => preview.preview_id === preview_id);
  return named ?? ofAgent.find(({ status }) => status === 'waiting') ?? ofAgent.at(-1);
}

interface Refusal {
  type: 'not_found' | 'conflict' | 'invalid_request';
  message: string;
}

/** Why the decision cannot be applied; undefined if it can. */
export function decisionRefusal(
  plan: AgentflowExecutionInput,
  state: ExecutionState,
  request: PreviewDecision,
): Refusal | undefined {
  const { agent_id, preview_id, decision, edits } = request;
  const agent = plan.agents.find(({ _id }) => _id === agent_id);
  if (!agent) return { type: 'not_found', message: 'the agentflow of this execution has no such agent' };
  const preview = previewDecided(state, request);
  if (preview?.status !== 'waiting') {
    return {
      type: 'conflict',
      message: preview
        ? `the preview of this agent is ${preview.status}`
        : 'no preview of this agent is waiting for a decision',
    };
  }
  if (preview_id !== preview.preview_id) {
    return {
      type: 'conflict',
      message: `this agent now waits for a decision on another preview, ${JSON.stringify(preview.preview_id)}`,
    };
  }
  const given = decision === 'approve' ? edits : undefined;
  const problem = editsProblem(agent, preview, given) ?? valueProblem(state, preview, given);
  return problem === undefined ? undefined : { type: 'invalid_request', message: `edits: ${problem}` };
}

/** Whether the output has a schema. The API checks that the text matches it. */
function valueProblem(
  state: ExecutionState,
  preview: Preview,
  edits: PreviewEdits | null | undefined,
): string | undefined {
  const path = pathsOf(state).find((each) => previewOn(state, each, preview.agent_id) === preview);
  const text = outputOf(edits ?? null);
  const { draft = null } = path?.current ?? {};
  if (text === undefined || draft === null || !('value' in draft)) return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return 'must be the text of a JSON value, because the output has a schema';
  }
}

function editsProblem(
  agent: AgentPlan,
  { kind, proposed }: Preview,
  edits: PreviewEdits | null | undefined,
): string | undefined {
  if (edits === undefined || edits === null) return undefined;
  if (kind === 'output' || !Array.isArray(proposed))
    return outputOf(edits) === undefined
      ? 'must be a string, or an object whose only field is the string `output`'
      : undefined;
  if (typeof edits === 'string') return 'must be an object whose keys are action ids';
  for (const [id, values] of Object.entries(edits)) {
    const action = proposed.find((one) => one.action_id === id || one.call_id === id);
    if (!action) return `no action ${JSON.stringify(id)} is proposed`;
    if (!isObject(values)) return `the inputs of ${JSON.stringify(id)} must be an object`;
    const fields = fieldsOf(agent, action);
    const unknown = Object.keys(values).find((field) => !fields.has(field));
    if (unknown !== undefined) return `the action ${JSON.stringify(id)} has no input ${JSON.stringify(unknown)}`;
  }
  return undefined;
}

function fieldsOf(agent: AgentPlan, { skill_id, action_id }: ProposedAction): ReadonlySet<string> {
  const action = agent.skills.find(({ _id }) => _id === skill_id)?.actions.find(({ _id }) => _id === action_id);
  return new Set(action?.input_schema.fields.map(({ field_id }) => field_id));
}

/** Applies a decision that was not refused. A rejection ends the run. */
export function applyDecision(state: ExecutionState, request: PreviewDecision, at: number): void {
  const preview = previewDecided(state, request);
  if (!preview) return;
  const { agent_id, decision, by } = request;
  const edits = decision === 'approve' ? (request.edits ?? null) : null;
  preview.status = decision === 'reject' ? 'rejected' : edits === null ? 'approved' : 'edited';
  Object.assign(preview, { edits, decided_by: by, decided_at: at });
  const path = pathsOf(state).find((each) => previewOn(state, each, agent_id) === preview);
  if (path?.current) path.current.is_previewed = true;
  addEvent(state, 'preview_decided', at, { agent_id, status: preview.status, by, ...pathOf(preview) });
  if (decision === 'approve') return;
  const message = request.reason || `the preview of "${preview.title}" was rejected`;
  fail(state, { reason: 'preview_rejected', code: 'preview_rejected', message, by, at, step_id: preview.preview_id });
}

export function expirePreview(state: ExecutionState, preview: Preview, at: number): void {
  preview.status = 'expired';
  preview.decided_at = at;
  addEvent(state, 'preview_decided', at, {
    agent_id: preview.agent_id,
    status: 'expired',
    by: null,
    ...pathOf(preview),
  });
}

/** Nobody decides on a preview of a path that was left. */
export function expirePreviewsOn(state: ExecutionState, path: PathState, at: number): void {
  for (const preview of Object.values(state.previews))
    if (preview.status === 'waiting' && (preview.path ?? '') === path.path) expirePreview(state, preview, at);
}

function pathOf({ path }: Preview): { path?: string } {
  return path === undefined ? {} : { path };
}

/** The inputs of an action that a person changed. Edits by call id take precedence over edits by action id. */
export function editsOf(
  state: ExecutionState,
  path: PathState,
  { agentId, actionId, callId }: { agentId: string; actionId: string; callId: string | null },
): Record<string, unknown> | undefined {
  const preview = previewOn(state, path, agentId);
  const edits = preview?.kind === 'actions' ? preview.edits : null;
  if (!isObject(edits)) return undefined;
  const id = [callId, actionId].find((each) => each !== null && Object.hasOwn(edits, each));
  const fields = id === undefined || id === null ? undefined : edits[id];
  return isObject(fields) ? fields : undefined;
}

/** The text with which a person replaced an output. */
export function outputOf(edits: PreviewEdits | null): string | undefined {
  if (typeof edits === 'string') return edits;
  return typeof edits?.output === 'string' && Object.keys(edits).length === 1 ? edits.output : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
