import { expect } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import type { ApiClient } from './client.js';
import { eventually } from './eventually.js';
import { startExecution } from './executions.js';
import { createWorkspace, personOf, useDeps, type Workspace } from './fixture.js';
import { flowThatCalls } from './flows.js';
import { useHttpSink } from './use-http-sink.js';

export const permit = { policy_id: 'permit', effect: 'permit' };
export const ask = {
  policy_id: 'ask',
  description: 'Posts are looked at.',
  effect: 'require_approval',
  tools: ['act.http'],
};

/** A workspace whose rules govern the acts of its runs. */
export interface Governed {
  workspace: Workspace;
  /** An ORG_ADMIN who did not start the runs. */
  approver: ApiClient;
  /** What the paths at the sink begin with. */
  prefix: string;
  policies(...rules: object[]): Promise<void>;
  /** Starts a run that posts to each path. */
  start(...names: string[]): Promise<string>;
  seen(name?: string): number;
}

/** The id of the approval that the run waits for, which is not `not`. */
export async function heldApproval({ workspace }: Governed, id: string, not = ''): Promise<string> {
  return eventually(async () => {
    const { body } = await workspace.api.get(`/execute_flow/${id}`);
    expect(body).toMatchObject({ status: 'running', execution_context: { waiting_for: { kind: 'approval' } } });
    const { approval_id } = body.execution_context.waiting_for;
    expect(approval_id).not.toBe(not);
    return approval_id;
  });
}

export const decide = (api: ApiClient, id: string, decision: string, comment?: string) =>
  api.post(`/v1/approvals/${id}/${decision}`, comment === undefined ? {} : { comment });

/** What tests of acts share: a sink for their calls, and the records that they leave. */
export async function useActs() {
  const deps = useDeps();
  const sink = await useHttpSink();

  async function governed(...rules: object[]): Promise<Governed> {
    const workspace = await createWorkspace(deps);
    const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN' });
    const prefix = `/${workspace.projectID}`;
    const policies = async (...given: object[]) => {
      const answer = await approver.put('/v1/policies', { policies: given });
      expect(answer).toMatchObject({ status: 200 });
    };
    await policies(permit, ...rules);
    const start = (...names: string[]) =>
      startExecution(workspace, flowThatCalls(names.map((name) => `${sink.url}${prefix}/${name}`)));
    const seen = (name = '') => sink.seen(`${prefix}/${name}`).length;
    return { workspace, approver, prefix, policies, start, seen };
  }

  const lifecyclesOf = ({ workspace }: Governed) =>
    deps.mongo.collections.lifecycles
      .find({ project_id: workspace.projectID, tool: 'act.http' })
      .sort({ _id: 1 })
      .toArray();
  const auditOf = async ({ workspace }: Governed) =>
    (
      await deps.mongo.collections.audit_entries
        .find({ _id: { $gt: `${workspace.organizationId}:`, $lt: `${workspace.organizationId};` }, action: 'act.http' })
        .sort({ _id: 1 })
        .toArray()
    ).map(({ actor, resource, outcome }) => ({ actor, resource, outcome }));
  const outcomesOf = async (of: Governed) => (await auditOf(of)).map(({ outcome }) => outcome);
  return { deps, sink, governed, lifecyclesOf, auditOf, outcomesOf };
}
