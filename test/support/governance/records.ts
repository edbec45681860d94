import type { GovernedRecord } from '../../../src/governance/recorder.js';
import { newId } from '../../../src/base/ids.js';
import { epochSeconds } from '../../../src/base/time.js';

/** The record of one call as the gateway would write it. */
export function recordsOf(
  scope: { organizationId: string; projectId: string },
  lifecycle: Partial<GovernedRecord['lifecycle']> = {},
) {
  const at = epochSeconds();
  const _id = lifecycle._id ?? newId();
  const where = { project_id: scope.projectId, organization_id: scope.organizationId };
  return {
    lifecycle: {
      _id,
      tool: 'query-context',
      status: 'completed',
      stages: [
        { stage: 'S1:authenticate', status: 'ok', detail: '' },
        { stage: 'S8:execute', status: 'ok', detail: '' },
      ],
      principal: { user_id: newId(), kind: 'api_key', key_id: newId() },
      ...where,
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      created_at: at,
      ended_at: at,
      payload_digest: 'a'.repeat(64),
      consumed: [],
      decision: { decision: 'permit', policy_ids: ['default'], policy_version: 1, at, project_id: scope.projectId },
      ...lifecycle,
    },
    audit: {
      organization_id: scope.organizationId,
      actor: `user_jwt:${newId()}`,
      action: 'query-context',
      resource: `project:${scope.projectId}`,
      outcome: lifecycle.status ?? 'completed',
      lifecycle_id: _id,
    },
  } satisfies GovernedRecord;
}
