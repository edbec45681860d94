import * as releases from '../../domain/releases/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('releases');

/** Published versions of agentflows, and the channels that point to them. */
export const releaseRoutes: readonly Route[] = [
  route('GET /agentflow/{id}/versions', releases.listReleases, {
    summary: 'List the releases of an agentflow',
    response: { description: 'The releases, newest first.' },
  }),
  route('POST /agentflow/{id}/versions', releases.publishRelease, {
    summary: 'Publish the saved agentflow as its next release',
    description:
      'A release never changes. Publishing checks that everything that the agentflow refers to exists, and that the agentflows which it starts have releases. No channel points to the new release yet.',
    response: { description: 'The release, or the one that was published before under the same `external_id`.' },
    idempotent: true,
  }),
  route('GET /agentflow/{id}/versions/{version}', releases.readRelease, {
    summary: 'Read a release of an agentflow',
    response: { description: 'The release with the agentflow as it was published.' },
  }),
  route('GET /agentflow/{id}/diff', releases.readDifference, {
    summary: 'Compare releases and the saved agentflow',
    response: { description: 'What differs, by agent, skill, action and step, and what a run may do in addition.' },
  }),
  route('GET /agentflow/{id}/channels', releases.readChannels, {
    summary: 'Read to which releases the channels of an agentflow point',
    response: { description: 'The channels.' },
  }),
  route('GET /agentflow/{id}/channels/{channel}/history', releases.readHistory, {
    summary: 'List to which releases a channel has pointed',
    response: {
      description: 'Who pointed it to which release, newest first. The first entry is what the channel points to now.',
    },
  }),
  route('PUT /agentflow/{id}/channels/{channel}', releases.pointChannel, {
    summary: 'Point a channel to a release',
    description:
      'Promotes a release, or rolls back to an earlier one. The runs that start from then on take it. Only one of several calls with the same `expected` succeeds.',
    response: { description: 'The channel.' },
    idempotent: true,
  }),
  route('POST /agentflow/{id}/promote', releases.promoteAgentflow, {
    summary: 'Publish the saved agentflow and point production to it',
    description: 'Runs that start from then on take this release, regardless of later edits.',
    response: { description: 'The channel `production`.' },
  }),
];
