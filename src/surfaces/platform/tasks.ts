import { listTasks, pauseTask, readTask, resumeTask, stopTask } from '../../domain/tasks/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('tasks');
const moves = [
  { name: 'pause', operation: pauseTask, summary: 'Pause a running task at the next step boundary' },
  { name: 'resume', operation: resumeTask, summary: 'Resume a paused task' },
  { name: 'stop', operation: stopTask, summary: 'Stop an open task' },
];

/** Tasks. They are a view of executions, so the two are always consistent (contract, tasks). */
export const taskRoutes: readonly Route[] = [
  route('GET /task', listTasks, {
    summary: 'List tasks, newest first',
    response: { description: 'One page of tasks.' },
  }),
  route('GET /task/{id}', readTask, {
    summary: 'Read a task, live while it runs',
    response: { description: 'The task.' },
  }),
  ...moves.map(({ name, operation, summary }) =>
    route(`POST /task/{id}/${name}`, operation, {
      summary,
      response: { description: 'The new status of the task and its execution.' },
      idempotent: true,
    }),
  ),
];
