import { isAdmin } from '../../auth/principal.js';
import { readPolicyDecision } from '../../governance/lifecycles/read.js';
import { Lifecycle, LifecycleStatus } from '../../governance/lifecycles/record.js';
import { listOf } from '../../stores/lists.js';
import { send } from './pages/layout.js';
import { lifecycleContent, lifecyclesContent } from './pages/lifecycles.js';
import { queryOf, type Visit } from './visit.js';

export async function showLifecycles(visit: Visit): Promise<void> {
  const [tool, cursor] = [queryOf(visit.req, 'tool'), queryOf(visit.req, 'cursor')];
  const known = LifecycleStatus.safeParse(queryOf(visit.req, 'status'));
  const status = known.success ? known.data : undefined;
  const query = {
    limit: 25,
    ...(tool !== undefined && { tool }),
    ...(status && { status }),
    ...(cursor !== undefined && { cursor }),
  };
  const page = listOf(Lifecycle).parse(await visit.call('get', '/v1/lifecycles', { query }));
  send(visit, { title: 'Lifecycles', content: lifecyclesContent(visit, { page, tool, status }) });
}

export async function showLifecycle(visit: Visit, id: string): Promise<void> {
  const { deps, principal } = visit;
  const lifecycle = Lifecycle.parse(await visit.call('get', '/v1/lifecycles/{id}', { params: { id } }));
  const [decision, entry] = await Promise.all([
    lifecycle.decision_id === null
      ? undefined
      : readPolicyDecision(deps.mongo.collections, principal, lifecycle.decision_id),
    isAdmin(principal) ? deps.governance.audit.entryOf(principal.organizationId, lifecycle) : undefined,
  ]);
  send(visit, {
    title: `Lifecycle of ${lifecycle.tool}`,
    content: lifecycleContent(visit, { lifecycle, decision, entry }),
  });
}
