import type { Audited } from '../../auth/audit-port.js';
import type { AuthDeps } from '../../auth/create-auth.js';
import { findUserByEmail } from '../../auth/users.js';
import { isRefusal } from '../../base/errors.js';
import { answeredCode } from '../rest/error-answers.js';

interface SignedIn {
  scope: { org_id: string; project_id: string; user_id: string; auth_kind: string };
}

/**
 * Records a sign-in, including a refused one, in the audit chain of the person's organization. An unknown email address
 * has no chain. A refusal is recorded after the response, so that response times do not reveal which addresses are
 * known. A throttled attempt is not recorded: nothing limits their number, and anybody can cause them.
 */
export async function auditedSignIn<T extends SignedIn>(
  deps: AuthDeps & Audited,
  email: string,
  attempt: Promise<T>,
): Promise<T> {
  try {
    const signedIn = await attempt;
    const { org_id: organization_id, project_id, user_id, auth_kind } = signedIn.scope;
    await deps.governance.audit.append({
      organization_id,
      actor: `${auth_kind}:${user_id}`,
      action: 'sign-in',
      resource: `project:${project_id}`,
      outcome: 'completed',
      lifecycle_id: null,
    });
    return signedIn;
  } catch (error) {
    if (isRefusal(error) && error.code !== 'too_many_requests')
      void recordRefusal(deps, email, answeredCode(error.code)).catch((failure: unknown) =>
        deps.log.error({ err: failure }, 'a refused sign-in was not recorded'),
      );
    throw error;
  }
}

async function recordRefusal({ mongo, governance }: AuthDeps & Audited, email: string, code: string): Promise<void> {
  const user = await findUserByEmail(mongo.collections, email);
  if (!user) return;
  const { _id, organization_id } = user;
  await governance.audit.append({
    organization_id,
    actor: `user_jwt:${_id}`,
    action: 'sign-in',
    resource: `user:${_id}`,
    outcome: `denied: ${code}`,
    lifecycle_id: null,
  });
}
