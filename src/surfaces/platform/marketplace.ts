import * as marketplace from '../../domain/marketplace/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('marketplace');

/** Coworkers that organizations publish for others to hire (contract, marketplace). */
export const marketplaceRoutes: readonly Route[] = [
  route('GET /marketplace', marketplace.listPublications, {
    scope: 'organization',
    summary: 'List publications, newest first',
    description: 'Sorted by the time of the first publication: a later version does not move a publication.',
    response: { description: 'Publications of all organizations.' },
  }),
  route('POST /marketplace', marketplace.publish, {
    summary: 'Publish an agentflow, or its next version',
    description:
      'Publishes the release in production or, if the agentflow was never released, the saved agentflow. A publication has slots instead of connectors, and no triggers, knowledge, or credentials in URLs. Later edits of the agentflow do not affect it.',
    response: { status: 201, description: 'The publication.' },
    idempotent: true,
  }),
  route('POST /marketplace/coworker/{id}/hire', marketplace.hireAgentflow, {
    summary: 'Copy a published coworker into the project',
    description: '`slots` chooses connectors of the project. What it leaves out can be chosen in the copy.',
    response: { status: 201, description: 'The copy, with `parent_agentflow_id` and `marketplace_id`.' },
    idempotent: true,
  }),
  route('GET /marketplace/coworker/{id}/check_update', marketplace.checkUpdate, {
    summary: 'Check for a newer version of a hired coworker',
    description: '`id` is the hired copy, or a publication, which refers to its newest copy in the project.',
    response: { description: 'The hired version and the latest version.' },
  }),
  route('GET /marketplace/{id}', marketplace.readPublication, {
    scope: 'organization',
    summary: 'Read a publication with its versions',
    response: { description: 'The publication and the content of its latest version.' },
  }),
];
