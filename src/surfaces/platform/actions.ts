import { createAction, listActions, readAction } from '../../domain/actions/operations.js';
import { operationRoute, type Route } from '../rest/define-route.js';

const tag = 'actions';

/** Standalone actions of a project, which are not embedded in skills (contract, actions). */
export const actionRoutes: readonly Route[] = [
  operationRoute({
    method: 'post',
    path: '/action',
    operation: createAction,
    tag,
    summary: 'Create an action',
    response: { status: 201, description: 'The stored action.' },
    idempotent: true,
  }),
  operationRoute({
    method: 'get',
    path: '/action',
    operation: listActions,
    tag,
    summary: 'List actions, newest first',
    response: { description: 'One page of actions.' },
  }),
  operationRoute({
    method: 'get',
    path: '/action/{id}',
    operation: readAction,
    tag,
    summary: 'Read an action',
    response: { description: 'The action.' },
  }),
];
