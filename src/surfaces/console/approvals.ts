import { z } from 'zod';
import { Approval, ApprovalStatus } from '../../governance/approvals/record.js';
import { isAdmin } from '../../auth/principal.js';
import { isRefusal } from '../../errors.js';
import { statusOf } from '../rest/error-answers.js';
import { listOf } from '../../stores/lists.js';
import { seeOther } from '../browser/send-page.js';
import { namesOf } from './people.js';
import { approvalContent, approvalsContent } from './pages/approvals.js';
import { send } from './pages/layout.js';
import { fieldOf, queryOf, type Visit } from './visit.js';

/** Shows the pending approvals unless the person chooses another state. */
export async function showApprovals(visit: Visit): Promise<void> {
  const status = queryOf(visit.req, 'status') ?? 'pending';
  const known = ApprovalStatus.safeParse(status);
  const cursor = queryOf(visit.req, 'cursor');
  const query = { limit: 25, ...(known.success && { status: known.data }), ...(cursor !== undefined && { cursor }) };
  const page = listOf(Approval).parse(await visit.call('get', '/v1/approvals', { query }));
  const names = await namesOf(
    visit,
    page.data.map(({ requested_by }) => requested_by),
  );
  send(visit, {
    title: 'Approvals',
    content: approvalsContent(visit, { page, status: known.success ? known.data : 'all', names }),
    refreshSeconds: 5,
  });
}

export async function showApproval(visit: Visit, id: string, problem?: string): Promise<void> {
  const approval = Approval.parse(await visit.call('get', '/v1/approvals/{id}', { params: { id } }));
  const { requested_by, decided_by, votes } = approval;
  const [names, rules] = await Promise.all([
    namesOf(visit, [
      requested_by,
      ...(decided_by === null ? [] : [decided_by]),
      ...votes.map(({ user_id }) => user_id),
    ]),
    rulesOf(visit, approval),
  ]);
  const content = approvalContent(visit, { approval, names, rules, problem, done: queryOf(visit.req, 'done') });
  send(visit, {
    title: `Approval of ${approval.tool}`,
    content,
    ...(approval.status === 'pending' && { refreshSeconds: 5 }),
  });
}

const Decision = z.enum(['approve', 'reject']);

/** Records the decision. After a refusal, shows the current approval with the reason of the refusal. */
export async function decideApproval(visit: Visit, id: string): Promise<void> {
  const decision = Decision.safeParse(fieldOf(visit.req, 'decision'));
  if (!decision.success) return showApproval(visit, id, 'The form was not sent by one of its buttons.');
  const comment = fieldOf(visit.req, 'comment')?.trim() ?? '';
  try {
    await visit.call('post', `/v1/approvals/{id}/${decision.data}`, {
      params: { id },
      body: comment === '' ? {} : { comment },
    });
  } catch (error) {
    if (!isRefusal(error) || error.code === 'not_found') throw error;
    visit.res.status(statusOf(error));
    return showApproval(visit, id, error.message);
  }
  seeOther(visit.res, `${visit.base}/approvals/${encodeURIComponent(id)}?done=${decision.data}`);
}

/** The reasons of the rules that hold the call, in the version that held it, for people who may read policies. */
async function rulesOf(
  { deps, principal }: Visit,
  { policy_ids, policy_version }: Approval,
): Promise<ReadonlyMap<string, string>> {
  if (!isAdmin(principal)) return new Map();
  const { policies } = deps.governance;
  const set = policy_version === 0 ? await policies.read(principal) : await policies.version(principal, policy_version);
  const rules = [...set.policies, ...set.builtin].filter(({ policy_id }) => policy_ids.includes(policy_id));
  return new Map(
    rules.map(({ policy_id, description, when }) => [
      policy_id,
      [description, when && `when ${when}`].filter(Boolean).join(' – '),
    ]),
  );
}
