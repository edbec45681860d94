import { expect } from '@jest/globals';
import type { Deps } from '../../../src/domain/deps.js';
import { newId } from '../../../src/base/ids.js';
import type { ApiClient } from '../../support/client.js';
import { eventually } from '../../support/eventually.js';
import { createKey } from '../../support/fixture.js';
import { bearerClient, createGatewayWorkspace, type GatewayWorkspace } from '../../support/gateway.js';

interface Governed extends GatewayWorkspace {
  approver: ApiClient;
  decide(approvalId: string, decision: 'approve' | 'reject'): Promise<void>;
}

/** A project whose organization requires an approval for every call of one tool, and a person who can approve. */
export async function governedWorkspace(deps: Deps, tool = 'save-context'): Promise<Governed> {
  const workspace = await createGatewayWorkspace(deps);
  const approver = bearerClient(await createKey(deps, { ...workspace, userId: newId() }));
  const policies = [
    { policy_id: 'all', effect: 'permit' },
    { policy_id: 'ask', effect: 'require_approval', tools: [tool] },
  ];
  expect(await approver.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
  return {
    ...workspace,
    approver,
    async decide(approvalId, decision) {
      expect(await approver.post(`/v1/approvals/${approvalId}/${decision}`, {})).toMatchObject({ status: 200 });
    },
  };
}

export async function onlyApproval({ approver }: Governed): Promise<string> {
  return eventually(async () => {
    const { body } = await approver.get('/v1/approvals?status=pending');
    expect(body.data).toHaveLength(1);
    return body.data[0].approval_id as string;
  });
}
