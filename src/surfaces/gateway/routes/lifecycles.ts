import { listCalls, listDecisions, readCall } from '../../../domain/governance/lifecycles.js';
import { readQuota } from '../../../domain/governance/quota.js';
import { operationRoute, type Route } from '../../rest/define-route.js';

const tag = 'governance';

/**
 * The governed calls of the credential's project, their policy decisions, and the number of calls that admission
 * control still allows.
 */
export const lifecycleRoutes: readonly Route[] = [
  operationRoute({
    method: 'get',
    path: '/v1/lifecycles',
    operation: listCalls,
    tag,
    summary: 'List the governed calls of the project',
    response: { description: 'Newest first.' },
  }),
  operationRoute({
    method: 'get',
    path: '/v1/lifecycles/{id}',
    operation: readCall,
    tag,
    summary: 'Read one governed call',
    description: 'Lists every stage that the call reached, in order. The first failed stage refused the call.',
    response: { description: 'The lifecycle with its policy decision.' },
  }),
  operationRoute({
    method: 'get',
    path: '/v1/policy-decisions',
    operation: listDecisions,
    tag,
    summary: 'List the policy decisions of the project',
    response: { description: 'Newest first.' },
  }),
  operationRoute({
    method: 'get',
    path: '/v1/quota',
    operation: readQuota,
    tag,
    summary: 'Read the use of the quota',
    response: { description: 'The number of governed calls in the current windows, and their maximums.' },
  }),
];
