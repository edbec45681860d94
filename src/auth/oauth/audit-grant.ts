import type { Audited } from '../audit-port.js';
import type { AuthDeps } from '../create-auth.js';
import type { OauthGrantDocument } from './grants.js';

/** The events of a grant that are recorded in the audit chain of its organization. */
type GrantAct = 'oauth-revocation' | 'oauth-refresh-reuse' | 'oauth-code-reuse' | 'connected-app-end';

/** Without `actor`, the client itself is recorded. */
export async function auditGrant(
  { mongo, governance }: Pick<AuthDeps, 'mongo'> & Audited,
  { _id, project_id, user_id, client_id }: OauthGrantDocument,
  act: GrantAct,
  actor = `user_jwt:${user_id}:${client_id}`,
): Promise<void> {
  const project = await mongo.collections.projects.findOne({ _id: project_id });
  if (!project) return;
  await governance.audit.append({
    organization_id: project.organization_id,
    actor,
    action: act,
    resource: `oauth-grant:${_id}`,
    outcome: `ended: ${client_id} for ${user_id}`,
    lifecycle_id: null,
  });
}
