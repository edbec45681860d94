import { listTasks, pauseTask, readTask, resumeTask, stopTask } from '../../domain/tasks/operations.js';
import { operationRoute, type Route } from '../rest/define-route.js';

const tag = 'tasks';
const moves = [
  { name: 'pause', operation: pauseTask, summary: 'Pause a running task at the next step boundary' },
  { name: 'resume', operation: resumeTask, summary: 'Resume a paused task' },
  { name: 'stop', operation: stopTask, summary: 'Stop an open task' },
];

/** Tasks. They are a view of executions, so the two are always consistent (contract, tasks). */
export const taskRoutes: readonly Route[] = [
  operationRoute({
    method: 'get',
    path: '/task',
    operation: listTasks,
    tag,
    summary: 'List tasks, newest first',
    response: { description: 'One page of tasks.' },
  }),
  operationRoute({
    method: 'get',
    path: '/task/{id}',
    operation: readTask,
    tag,
    summary: 'Read a task, live while it runs',
    response: { description: 'The task.' },
  }),
  ...moves.map(({ name, operation, summary }) =>
    operationRoute({
      method: 'post',
      path: `/task/{id}/${name}`,
      operation,
      tag,
      summary,
      response: { description: 'The new status of the task and its execution.' },
      idempotent: true,
    }),
  ),
];
