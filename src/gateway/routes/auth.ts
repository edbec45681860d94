import { z } from 'zod';
import { authenticateBearer } from '../../auth/authenticate-bearer.js';
import type { AuthDeps } from '../../auth/create-auth.js';
import { logIn, refresh, RefreshToken, SessionTokens, sessionTokenSeconds, signIn, UserToken, userTokenSeconds } from '../../auth/sign-in.js';
import { tokenInvalid } from '../../auth/tokens.js';
import { AppError } from '../../errors.js';
import type { RequestContext } from '../../http/context.js';
import { defineRoute, type Route } from '../../http/define-route.js';

const tag = 'authentication';

const Credentials = z
  .strictObject({
    email: z.string().trim().min(1).max(320),
    password: z.string().min(1).max(1024),
    project_id: z.string().min(1).max(255).optional().meta({ description: 'None: the oldest project of the user.' }),
  })
  .meta({ id: 'Credentials', example: { email: 'admin@example.com', password: 'correct horse battery staple' } });

/** Sign-in, SDK sessions (contract, Gateway, auth). Nothing of a body is logged. */
export function authRoutes(deps: AuthDeps, baseUrl: () => string): Route[] {
  return [...signInRoutes(deps), ...sessionRoutes(deps, baseUrl)];
}

function signInRoutes(deps: AuthDeps): Route[] {
  const errors = ['invalid_token', 'S2:resolve-scope', 'too_many_requests'] as const;
  return [
    defineRoute({
      method: 'post',
      path: '/v1/auth/sign-in',
      permission: 'public',
      tag,
      errors,
      summary: 'Sign in for a user token',
      description: 'A user token acts with the role of its user and is what API keys are made with.',
      body: Credentials,
      response: { schema: UserToken, description: `A user token of ${userTokenSeconds / 3600} hours.` },
      handler: ({ ctx, body }) => signIn(deps, loginOf(uncached(ctx), body)),
    }),
    defineRoute({
      method: 'post',
      path: '/v1/auth/login',
      permission: 'public',
      tag,
      errors,
      summary: 'Begin an SDK session',
      body: Credentials,
      response: { schema: SessionTokens, description: `A token of ${sessionTokenSeconds} seconds, refreshable for 30 days.` },
      handler: ({ ctx, body }) => logIn(deps, loginOf(uncached(ctx), body)),
    }),
  ];
}

function sessionRoutes(deps: AuthDeps, baseUrl: () => string): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/v1/auth/refresh',
      permission: 'public',
      tag,
      errors: ['invalid_token'],
      summary: 'Exchange a refresh token for the next pair',
      description: 'A token repeated within ten seconds gets the same child; used again later it ends the whole session.',
      body: z.strictObject({ refresh_token: RefreshToken }),
      response: { schema: SessionTokens, description: 'The next pair; the refresh token that was sent has ended.' },
      handler: ({ ctx, body }) => {
        uncached(ctx);
        return refresh(deps, body.refresh_token);
      },
    }),
    defineRoute({
      method: 'post',
      path: '/v1/auth/logout',
      permission: 'public',
      tag,
      errors: ['invalid_token'],
      summary: 'End a session',
      description: 'Named by its refresh token, or else by the bearer credential; ends its access and refresh tokens at once.',
      body: z.strictObject({ refresh_token: RefreshToken.optional() }),
      response: { schema: z.object({ logged_out: z.literal(true) }), description: 'Also for a session that had ended.' },
      handler: async ({ ctx, body }) => {
        await logOut(deps, ctx, body.refresh_token, baseUrl());
        return { logged_out: true };
      },
    }),
  ];
}

async function logOut(deps: AuthDeps, { req }: PublicContext, refreshToken: string | undefined, baseUrl: string): Promise<void> {
  const sessionId =
    refreshToken === undefined
      ? (await authenticateBearer(deps, req.headersDistinct.authorization, baseUrl)).sessionId
      : await deps.auth.sessions.sessionOf(refreshToken);
  if (sessionId !== undefined) await deps.auth.sessions.revoke(sessionId, 'logged out');
  else if (refreshToken === undefined) throw new AppError('invalid_token', tokenInvalid);
}

type PublicContext = RequestContext<undefined>;

function uncached(ctx: PublicContext): PublicContext {
  ctx.res.set('Cache-Control', 'no-store');
  return ctx;
}

function loginOf({ req }: PublicContext, { email, password, project_id }: z.infer<typeof Credentials>) {
  return { email, password, projectId: project_id, address: req.ip ?? '' };
}
