import { textIndexType, textIndexWorkflowId } from '../../../workflows/text-index/messages.js';
import { projectsToIndex } from '../../graph/language/index-next.js';
import { startProjectWork } from '../../temporal/start-once.js';
import { eachApart } from '../../base/async.js';
import { batches } from '../batches.js';
import type { Deps } from '../deps.js';

const projectsAtOnce = 500;

/** Starts the workflow of each project whose language changed. Any number of processes can sweep. */
export function createTextIndexSweep({
  graph,
  mongo,
  temporal,
  log,
}: Pick<Deps, 'graph' | 'mongo' | 'temporal' | 'log'>): () => Promise<void> {
  return async () => {
    for (const ids of batches(await projectsToIndex(graph), projectsAtOnce)) {
      const projects = await mongo.collections.projects
        .find({ _id: { $in: ids } }, { projection: { organization_id: 1 } })
        .toArray();
      const failed = 'the indexing of a project could not be started';
      const about = ({ _id }: { _id: string }) => ({ project_id: _id });
      await eachApart(projects, { log, failed, about }, ({ _id, organization_id }) =>
        startProjectWork(temporal, {
          type: textIndexType,
          workflowId: textIndexWorkflowId(_id),
          summary: 'Index texts in the language of the project',
          input: { project_id: _id, organization_id },
        }),
      );
    }
  };
}
