import { AuditEntry } from '../../governance/audit/entry.js';
import { Verification } from '../../governance/audit/verify.js';
import { listOf } from '../../stores/lists.js';
import { auditContent } from './pages/audit.js';
import { send } from './pages/layout.js';
import { queryOf, type Visit } from './visit.js';

/** The first page verifies the whole chain; older pages only list entries. */
export async function showAudit(visit: Visit): Promise<void> {
  const cursor = queryOf(visit.req, 'cursor');
  const [answer, verdict] = await Promise.all([
    visit.call('get', '/v1/audit', { query: { limit: 25, ...(cursor !== undefined && { cursor }) } }),
    cursor === undefined ? visit.call('get', '/v1/audit/verify') : undefined,
  ]);
  const verification = verdict === undefined ? undefined : Verification.parse(verdict);
  const checkedAt = Date.now() / 1000;
  send(visit, {
    title: 'Audit',
    content: auditContent(visit, { page: listOf(AuditEntry).parse(answer), verification, checkedAt }),
  });
}
