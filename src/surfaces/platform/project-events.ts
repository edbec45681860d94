import { setTimeout as delay } from 'node:timers/promises';
import type { Deps } from '../../domain/deps.js';
import { eventsFor } from '../../domain/news/events-for.js';
import { followProject } from '../../domain/news/operations.js';
import type { ProjectEvent } from '../../domain/news/record.js';
import type { RequestContext } from '../rest/context.js';
import { routesOf, type Route } from '../rest/define-route.js';
import { frameOf, lastEventId, recheckMs, sendEvents } from './server-sent-events.js';

const route = routesOf('executions');

/** Calls `work` for one value after the other, until it fails. */
function inOrder<T>(work: (value: T) => Promise<void>, onFailure: () => void): (value: T) => void {
  let before = Promise.resolve();
  return (value) => {
    before = before.then(() => work(value));
    before.catch(onFailure);
  };
}

/** Streams the changes in the project until the client disconnects or its credential ends. */
async function streamProject(deps: Deps, ctx: RequestContext): Promise<void> {
  const last = lastEventId(ctx.req.get('last-event-id'));
  const stream = sendEvents(deps, ctx);
  if (!stream) return;
  const { write, ended, mayGoOn } = stream;
  const send = inOrder(
    async (events: readonly ProjectEvent[]) => {
      const heard = await eventsFor(deps, ctx.principal, events);
      if (heard.length > 0 && !ended.aborted) write(heard.map(frameOf).join(''));
    },
    // The client resumes after the last event that it has received.
    () => ctx.res.destroy(),
  );
  const leave = await deps.projectNews.view(ctx.principal.projectId, last, send);
  while (!ended.aborted && (await mayGoOn()))
    await delay(recheckMs, undefined, { signal: ended }).catch(() => undefined);
  leave();
  ctx.res.end();
}

export const projectEventRoutes: readonly Route[] = [
  route('GET /{projectID}/events', followProject, {
    summary: 'Stream what changes in a project (server-sent events)',
    description:
      'New states of executions, approvals, memories that wait for a person, and schedules, at most about once a second for each. The first event is `opened`, unless `Last-Event-ID` names an event of the last hour: then the changes since that event come first. An event can be sent twice.',
    response: { stream: 'text/event-stream', description: 'The events. The stream has no end.' },
    handler: ({ deps, ctx }) => streamProject(deps, ctx),
  }),
];
