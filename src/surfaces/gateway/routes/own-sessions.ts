import { z } from 'zod';
import type { Audited } from '../../../auth/audit-port.js';
import type { AuthDeps } from '../../../auth/create-auth.js';
import { endOtherSessions, endOwnSession, listOwnSessions, OwnSession } from '../../../auth/own-sessions.js';
import { Id } from '../../../base/ids.js';
import { listOf, ListQuery } from '../../../stores/lists.js';
import { defineRoute, type Route } from '../../rest/define-route.js';

const tag = 'authentication';
const description = 'Requires a user token or a session.';

/** Routes for the sign-ins of the caller (contract, Gateway, auth). */
export function ownSessionRoutes(deps: AuthDeps & Audited): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/v1/auth/sessions',
      permission: 'any',
      tag,
      summary: 'List your sessions',
      description,
      query: ListQuery,
      response: { schema: listOf(OwnSession), description: 'Your sign-ins that have not ended, newest first.' },
      handler: ({ ctx: { principal }, query }) => listOwnSessions(deps, principal, query),
    }),
    defineRoute({
      method: 'delete',
      path: '/v1/auth/sessions',
      permission: 'any',
      tag,
      summary: 'End your other sessions',
      description: `${description} API keys and connected apps remain.`,
      response: { schema: z.object({ ended: z.literal(true) }), description: 'Only the current session is left.' },
      async handler({ ctx: { principal } }) {
        await endOtherSessions(deps, principal);
        return { ended: true };
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/v1/auth/sessions/{session_id}',
      permission: 'any',
      tag,
      errors: ['not_found'],
      summary: 'End one of your sessions',
      description: `${description} Its tokens end at once.`,
      params: z.object({ session_id: Id }),
      response: {
        schema: z.object({ ended: z.literal(true) }),
        description: 'The session has ended; this is also the answer if it already had.',
      },
      async handler({ ctx: { principal }, params }) {
        await endOwnSession(deps, principal, params.session_id);
        return { ended: true };
      },
    }),
  ];
}
