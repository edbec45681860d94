import { setTimeout as pause } from 'node:timers/promises';
import type { Workspace } from '../src/domain/workspace/record.js';
import { caller, findOrCreate, startRun, type Call, type SampleOptions } from './sample-api.js';

/** A sample run that waits until a person approves its call. */
export interface HeldSample {
  executionId: string;
  approvalId: string;
}

interface Waiting {
  agent_id: string;
  approval_id?: string;
  /** In epoch seconds. */
  expires_at: number;
}

interface Run {
  execution_id: string;
  agentflow_id: string;
  status: string;
  execution_context: { waiting_for?: Waiting | null };
}

const sample = 'service-check';
/** The only agent of the sample, which identifies the rule and the waiting runs of the sample. */
const agentId = 'sample_checker';
const heldTimeoutMs = 60_000;

/**
 * Starts a run whose call a rule holds, and returns once it waits. Does nothing if a run already waits. Cancels runs
 * that wait to call a previous URL of this service, because that URL no longer works.
 * @returns undefined if no rule holds the call, because a user has removed the rule
 */
export async function holdSample({ apiUrl, workspace, signal }: SampleOptions): Promise<HeldSample | undefined> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(heldTimeoutMs)]);
  const call = caller(apiUrl, { 'x-api-key': workspace.api_key }, inTime);
  const agentflow_id = await findOrCreate(call, workspace, sample, async () =>
    addRule(await signedIn({ apiUrl, workspace, signal: inTime }), workspace),
  );
  const runs = `/${workspace.project_id}/execution_flows`;
  const waiting = await call<{ data: Run[] }>('GET', `${runs}?waiting_for=approval&limit=200`);
  const earlier = waiting.data.filter(({ execution_context }) => execution_context.waiting_for?.agent_id === agentId);
  for (const run of earlier)
    if (run.agentflow_id !== agentflow_id) await call('POST', `/execute_flow/${run.execution_id}/cancel`, {});
  const [present] = earlier.filter((run) => run.agentflow_id === agentflow_id).flatMap((run) => heldOf(run) ?? []);
  if (present) return present;
  const id = await startRun(call, workspace, { agentflow_id, goal: 'Report whether this service is ready' });
  for (;;) {
    // Reads the stored record, so that a start that follows immediately finds the run as well.
    const { data } = await call<{ data: Run[] }>('GET', `${runs}?agentflow_id=${agentflow_id}&limit=1`);
    const run = data.find(({ execution_id }) => execution_id === id);
    const held = run && heldOf(run);
    if (held || run?.status === 'completed') return held;
    if (run?.status === 'failed') throw new Error(`it failed, see ${apiUrl}/execute_flow/${id}/monitoring`);
    await pause(100, undefined, { signal: inTime });
  }
}

/** If the approval expired while everything was stopped, the run ends without further action. */
function heldOf({ execution_id, execution_context: { waiting_for } }: Run): HeldSample | undefined {
  if (waiting_for?.approval_id === undefined || waiting_for.expires_at * 1000 < Date.now()) return undefined;
  return { executionId: execution_id, approvalId: waiting_for.approval_id };
}

async function signedIn({ apiUrl, workspace, signal }: Omit<SampleOptions, 'log'>): Promise<Call> {
  const { access_token } = await caller(apiUrl, {}, signal)<{ access_token: string }>(
    'POST',
    '/v1/auth/sign-in',
    workspace.admin,
  );
  return caller(apiUrl, { authorization: `Bearer ${access_token}` }, signal);
}

/** Adds the rule that holds the call of the sample, and keeps all others. */
async function addRule(asOwner: Call, { project_id }: Workspace): Promise<void> {
  const rule = {
    policy_id: 'sample.service-check',
    description: 'A person looks at the call of the sample agentflow "Service check".',
    effect: 'require_approval',
    tools: ['act.http'],
    projects: [project_id],
    when: `context.input.agent_id == "${agentId}"`,
    starter_may_decide: true,
  };
  const { policies } = await asOwner<{ policies: { policy_id: string }[] }>('GET', '/v1/policies');
  if (policies.some(({ policy_id }) => policy_id === rule.policy_id)) return;
  await asOwner('POST', '/v1/policies/rules', rule);
}

/** The lines that show how to approve the call of a run that waits. */
export function approvalText({ base_url, project_id, admin, api_key }: Workspace, held: HeldSample): string[] {
  const json = `-H 'content-type: application/json'`;
  const signIn = `curl -s ${json} -d '${JSON.stringify(admin)}' ${base_url}/v1/auth/sign-in`;
  const token = `$(${signIn} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`;
  return [
    `A second run waits: its agent asks before it calls ${base_url}/readyz. The console shows the approval:`,
    `  ${base_url}/console/projects/${project_id}/approvals/${held.approvalId}`,
    'To approve the call:',
    `  curl ${json} -H "authorization: Bearer ${token}" -d '{}' ${base_url}/v1/approvals/${held.approvalId}/approve`,
    'The agent then makes the call, and the run is completed:',
    `  curl -H 'x-api-key: ${api_key}' ${base_url}/execute_flow/${held.executionId}`,
  ];
}
