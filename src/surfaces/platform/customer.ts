import {
  listCredits,
  readAccount,
  readOrganizationSettings,
  updateOrganizationSettings,
} from '../../domain/customers/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('customer');
const scope = 'organization';

/** The account of an organization with its plan and usage, and its credit history (contract, customer). */
export const customerRoutes: readonly Route[] = [
  route('GET /customer', readAccount, {
    scope,
    summary: 'Read the account of the organization',
    response: { description: 'The account with its plan and usage.' },
  }),
  route('GET /credit/history', listCredits, {
    scope,
    summary: 'List the credit history, newest first',
    description:
      'Users with the role OWNER or ORG_ADMIN and keys with `svc:governance.read` see all projects of the organization. All others see the project of the credential.',
    response: { description: 'The base deductions of executions and the charges for their model turns.' },
  }),
  route('GET /customer/settings', readOrganizationSettings, {
    scope,
    summary: 'Read the settings of the organization',
    response: { description: 'The settings.' },
  }),
  route('PATCH /customer/settings', updateOrganizationSettings, {
    scope,
    summary: 'Change the settings of the organization',
    description: 'Only a person with the role OWNER can change them. The change applies to all projects.',
    response: { description: 'The changed settings.' },
  }),
];
