import { listCalls, listDecisions, readCall } from '../../../domain/governance/lifecycles.js';
import { readQuota } from '../../../domain/governance/quota.js';
import { listMemories } from '../../../domain/memories/operations/list.js';
import { routesOf, type Route } from '../../rest/define-route.js';

const route = routesOf('governance');

/**
 * The governed calls of the project, their policy decisions, how many calls admission control still allows, and the texts
 * that calls remembered.
 */
export const lifecycleRoutes: readonly Route[] = [
  route('GET /v1/lifecycles', listCalls, {
    summary: 'List the governed calls of the project',
    response: { description: 'Newest first.' },
  }),
  route('GET /v1/lifecycles/{id}', readCall, {
    summary: 'Read one governed call',
    description: 'Lists every stage that the call reached, in order. The first failed stage refused the call.',
    response: { description: 'The lifecycle with its policy decision.' },
  }),
  route('GET /v1/policy-decisions', listDecisions, {
    summary: 'List the policy decisions of the project',
    response: { description: 'Newest first.' },
  }),
  route('GET /v1/quota', readQuota, {
    summary: 'Read the use of the quota',
    response: { description: 'The number of governed calls in the current windows, and their maximums.' },
  }),
  route('GET /v1/memories', listMemories, {
    summary: 'List the remembered texts of the project',
    response: { description: 'Newest first, with status, counts, retries and cost.' },
  }),
];
