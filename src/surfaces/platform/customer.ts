import { listCredits, readAccount } from '../../domain/customers/operations.js';
import { operationRoute, type Route } from '../rest/define-route.js';

const tag = 'customer';
const scope = 'organization';

/** The account of an organization with its plan and usage, and its credit history (contract, customer). */
export const customerRoutes: readonly Route[] = [
  operationRoute({
    method: 'get',
    path: '/customer',
    operation: readAccount,
    tag,
    scope,
    summary: 'Read the account of the organization',
    response: { description: 'The account with its plan and usage.' },
  }),
  operationRoute({
    method: 'get',
    path: '/credit/history',
    operation: listCredits,
    tag,
    scope,
    summary: 'List the credit history, newest first',
    description:
      'Users with the role OWNER or ORG_ADMIN and keys with `svc:governance.read` see all projects of the organization. All others see the project of the credential.',
    response: { description: 'The base deductions of executions and the charges for their model turns.' },
  }),
];
