import { holdsGrant } from '../../auth/principal.js';
import { listOf } from '../../stores/lists.js';
import { seeOther } from '../browser/send-page.js';
import { appsContent } from './pages/apps.js';
import { send } from './pages/layout.js';
import { namesOf } from './people.js';
import { ConnectedAppView } from './views.js';
import { queryOf, type Visit } from './visit.js';

/** Shows a person's own apps; administrators also see the apps of everyone on the project. */
export async function showApps(visit: Visit): Promise<void> {
  const list = async (everyone: boolean, cursor: string | undefined) =>
    listOf(ConnectedAppView).parse(
      await visit.call('get', '/v1/connected-apps', {
        query: { limit: 25, everyone: String(everyone), ...(cursor !== undefined && { cursor }) },
      }),
    );
  const own = await list(false, queryOf(visit.req, 'own'));
  const project = holdsGrant(visit.principal, 'svc:governance.read')
    ? await list(true, queryOf(visit.req, 'project'))
    : undefined;
  const names = await namesOf(visit, project?.data.map(({ user_id }) => user_id) ?? []);
  send(visit, {
    title: 'Connected apps',
    content: appsContent(visit, { own, project, names, done: queryOf(visit.req, 'done') !== undefined }),
  });
}

export async function endApp(visit: Visit, id: string): Promise<void> {
  await visit.call('delete', '/v1/connected-apps/{id}', { params: { id } });
  seeOther(visit.res, `${visit.base}/apps?done=ended`);
}
