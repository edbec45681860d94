import { z } from 'zod';
import type { Audited } from '../../../auth/audit-port.js';
import { authenticateBearer, type BearerDeps } from '../../../auth/authenticate-bearer.js';
import { changePassword } from '../../../auth/change-password.js';
import { changeProfile, Profile, ProfilePatch, readProfile } from '../../../auth/profile.js';
import type { AuthDeps } from '../../../auth/create-auth.js';
import {
  logIn,
  refresh,
  RefreshToken,
  SessionTokens,
  sessionTokenSeconds,
  signIn,
  signOut,
  UserToken,
  userTokenSeconds,
} from '../../../auth/sign-in.js';
import { tokenInvalid } from '../../../auth/tokens.js';
import { AppError } from '../../../base/errors.js';
import { auditedSignIn } from '../../browser/audited-sign-in.js';
import { callerOf } from '../../browser/caller-of.js';
import { defineRoute, type PublicContext, type Route } from '../../rest/define-route.js';
import { ownSessionRoutes } from './own-sessions.js';

const tag = 'authentication';

const Credentials = z
  .strictObject({
    email: z.string().trim().min(1).max(320),
    password: z.string().min(1).max(1024),
    project_id: z.string().min(1).max(255).optional().describe('Defaults to the oldest project of the user.'),
  })
  .meta({ id: 'Credentials', example: { email: 'admin@example.com', password: 'correct horse battery staple' } });

const PasswordChange = z
  .strictObject({ current_password: z.string().min(1).max(1024), new_password: z.string().min(12).max(1024) })
  .meta({
    id: 'PasswordChange',
    example: { current_password: 'correct horse battery staple', new_password: 'a much longer pass phrase' },
  });

/** Routes for sign-in, SDK sessions and the password (contract, Gateway, auth). Request bodies are never logged. */
export function authRoutes(deps: BearerDeps & Audited, baseUrl: () => string): Route[] {
  return [
    ...signInRoutes(deps),
    ...sessionRoutes(deps, baseUrl),
    passwordRoute(deps),
    ...profileRoutes(deps),
    ...ownSessionRoutes(deps),
  ];
}

function passwordRoute(deps: AuthDeps & Audited): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/auth/password',
    permission: 'any',
    tag,
    errors: ['conflict', 'too_many_requests'],
    summary: 'Change your password',
    description: 'Requires a user token or a session. Ends your other sessions; API keys and connected apps remain.',
    body: PasswordChange,
    response: { schema: z.object({ changed: z.literal(true) }), description: 'The new password is in effect.' },
    async handler({ ctx: { principal, req }, body }) {
      await changePassword(deps, principal, {
        current: body.current_password,
        next: body.new_password,
        address: req.ip ?? '',
      });
      return { changed: true };
    },
  });
}

function profileRoutes(deps: AuthDeps & Audited): Route[] {
  const response = { schema: Profile, description: 'The account.' };
  return [
    defineRoute({
      method: 'get',
      path: '/v1/auth/profile',
      permission: 'any',
      tag,
      summary: 'Read your account',
      description: 'Requires a user token or a session.',
      response,
      handler: ({ ctx: { principal } }) => readProfile(deps, principal),
    }),
    defineRoute({
      method: 'patch',
      path: '/v1/auth/profile',
      permission: 'any',
      tag,
      summary: 'Change your name',
      description: 'Requires a user token or a session.',
      body: ProfilePatch,
      response,
      handler: ({ ctx: { principal }, body }) => changeProfile(deps, principal, body),
    }),
  ];
}

function signInRoutes(deps: AuthDeps & Audited): Route[] {
  const errors = ['invalid_token', 'scope_denied', 'too_many_requests'] as const;
  return [
    defineRoute({
      method: 'post',
      path: '/v1/auth/sign-in',
      permission: 'public',
      tag,
      errors,
      summary: 'Sign in for a user token',
      description: 'A user token has the role of its user and is required to create API keys.',
      body: Credentials,
      response: { schema: UserToken, description: `A user token that is valid for ${userTokenSeconds / 3600} hours.` },
      handler: ({ ctx, body }) => auditedSignIn(deps, body.email, signIn(deps, loginOf(uncached(ctx), body))),
    }),
    defineRoute({
      method: 'post',
      path: '/v1/auth/login',
      permission: 'public',
      tag,
      errors,
      summary: 'Start an SDK session',
      body: Credentials,
      response: {
        schema: SessionTokens,
        description: `A token that is valid for ${sessionTokenSeconds} seconds and can be refreshed for 30 days.`,
      },
      handler: ({ ctx, body }) => auditedSignIn(deps, body.email, logIn(deps, loginOf(uncached(ctx), body))),
    }),
  ];
}

function sessionRoutes(deps: BearerDeps & Audited, baseUrl: () => string): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/v1/auth/refresh',
      permission: 'public',
      tag,
      errors: ['invalid_token'],
      summary: 'Exchange a refresh token for the next pair',
      description:
        'A token that is repeated within ten seconds gets the same pair. If it is used again later, the whole session ends.',
      body: z.strictObject({ refresh_token: RefreshToken }),
      response: {
        schema: SessionTokens,
        description: 'The next pair. The refresh token that was sent is no longer valid.',
      },
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
      description:
        'The refresh token, or else the bearer credential, identifies the session. Its access and refresh tokens end at once.',
      body: z.strictObject({ refresh_token: RefreshToken.optional() }),
      response: {
        schema: z.object({ logged_out: z.literal(true) }),
        description: 'The session has ended; this is also the answer if it already had.',
      },
      handler: async ({ ctx, body }) => {
        await logOut(deps, ctx, body.refresh_token, baseUrl());
        return { logged_out: true };
      },
    }),
  ];
}

async function logOut(
  deps: BearerDeps & Audited,
  { req }: PublicContext,
  refreshToken: string | undefined,
  baseUrl: string,
): Promise<void> {
  const sessionId =
    refreshToken === undefined
      ? (await authenticateBearer(deps, req.headersDistinct.authorization, baseUrl)).sessionId
      : await deps.auth.sessions.sessionOf(refreshToken);
  if (sessionId !== undefined) await signOut(deps, sessionId, 'logged out');
  else if (refreshToken === undefined) throw new AppError('invalid_token', tokenInvalid);
}

function uncached(ctx: PublicContext): PublicContext {
  ctx.res.set('Cache-Control', 'no-store');
  return ctx;
}

function loginOf({ req }: PublicContext, { email, password, project_id }: z.infer<typeof Credentials>) {
  return { email, password, projectId: project_id, ...callerOf(req) };
}
