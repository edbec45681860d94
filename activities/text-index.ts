import { indexNext } from '../src/graph/language/index-next.js';
import type { Connection } from '../src/graph/store/sessions.js';
import type { TextIndexActivities } from '../workflows/text-index/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

export function createTextIndexActivities({ graph }: { graph: Connection }): TextIndexActivities {
  return {
    buildTextIndex: ({ project_id }) =>
      withHeartbeat(null, async ({ signal }) => {
        while (!(await indexNext(graph, project_id))) signal.throwIfAborted();
      }),
  };
}
