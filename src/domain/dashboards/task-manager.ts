import type { Stage } from './pipeline.js';

/** A task board shows only the newest tasks. */
const maxTasks = 500;

/** The pipeline of a `taskManager`: the tasks of the project, grouped by status (specification, Component). */
export function taskManagerPipeline(projectId: string): Stage[] {
  return [
    { $match: { projectID: projectId } },
    { $sort: { created_at: -1 } },
    { $limit: maxTasks },
    {
      $group: {
        _id: '$status',
        data: { $push: { _id: '$_id', created_at: '$created_at', status: '$status', name: '$name' } },
      },
    },
    { $sort: { _id: 1 } },
    { $project: { _id: 0, status: '$_id', data: 1 } },
  ];
}
