import { createAction, listActions, readAction } from '../../domain/actions/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';

const route = routesOf('actions');

/** Standalone actions of a project, which are not embedded in skills (contract, actions). */
export const actionRoutes: readonly Route[] = [
  route('POST /action', createAction, {
    summary: 'Create an action',
    response: { status: 201, description: 'The stored action.' },
    idempotent: true,
  }),
  route('GET /action', listActions, {
    summary: 'List actions, newest first',
    response: { description: 'One page of actions.' },
  }),
  route('GET /action/{id}', readAction, { summary: 'Read an action', response: { description: 'The action.' } }),
];
