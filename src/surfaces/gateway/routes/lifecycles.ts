import { listCalls, listDecisions, readCall } from '../../../domain/governance/lifecycles.js';
import { readQuota } from '../../../domain/governance/quota.js';
import { listMemories } from '../../../domain/memories/operations/list.js';
import { readReview } from '../../../domain/memories/operations/read-review.js';
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
  route('GET /v1/memories/{memory_id}/review', readReview, {
    summary: 'Read everything that approving a remembered text would write',
    description:
      'Only while the text waits for its review. The statements are in the order in which a person checks them: current facts that change, merges with existing entities, new entities, new facts. People who may decide and auditors read them whole, except for secrets, and the audit chain records the reading. Programs read them redacted and shortened. If the graph changes while you read the pages, the answer is 409: begin again.',
    response: {
      description: 'One page of statements, with the digest of all of them.',
      headers: { 'Cache-Control': 'no-store' },
    },
  }),
];
