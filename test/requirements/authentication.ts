import type { Requirement } from './requirement.js';

/** Credentials of the gateway: kinds, API keys, user tokens, sessions, grants. */
export const authentication = [
  {
    id: 'auth.kind.api-key',
    source: 'docs/specification.md#credentials',
    says: 'A secret with the prefix svc_sk_ is an API key: it can call tools, is valid until it is revoked and reports api_key.',
  },
  {
    id: 'auth.kind.user-token',
    source: 'docs/specification.md#credentials',
    says: 'A user token can call tools with the scope of its session and reports user_jwt.',
  },
  {
    id: 'auth.kind.oauth',
    source: 'docs/specification.md#credentials',
    says: 'An OAuth access token can call tools with the scopes that the user consented to, and reports user_jwt with its client_id.',
  },
  {
    id: 'auth.kind.session',
    source: 'docs/specification.md#credentials',
    says: 'A session token can call tools as the logged-in user in one project and reports session.',
  },
  {
    id: 'auth.missing',
    source: 'docs/specification.md#credentials',
    says: 'A request without a credential is answered 401 invalid_token; the answer says that the bearer credential is missing and links to the resource metadata.',
  },
  {
    id: 'auth.bad-key',
    source: 'docs/specification.md#credentials',
    says: 'An unknown or revoked key is answered 401 invalid_token with the description "api key invalid or revoked".',
  },
  {
    id: 'auth.wrong-kind',
    source: 'docs/specification.md#credentials',
    says: 'A valid credential of a kind that the route does not accept is answered 401 invalid_token with the description "token invalid".',
  },
  {
    id: 'auth.tenancy-pinned',
    source: 'docs/specification.md#governed-calls',
    says: 'A credential is bound to one organization, department and project, and nothing in a request changes this.',
  },

  {
    id: 'auth.keys.create',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/apikeys creates a key for an organization, department and project.',
  },
  {
    id: 'auth.keys.create.admin-only',
    source: 'docs/specification.md#credentials',
    says: 'Only OWNER, ORG_ADMIN and PROJECT_ADMIN of the target project can create keys; the refusal names the missing role.',
  },
  {
    id: 'auth.keys.create.not-by-key',
    source: 'docs/specification.md#credentials',
    says: 'Creating a key with an API key or a session is answered 401 with the description "token invalid".',
  },
  {
    id: 'auth.keys.secret-once',
    source: 'docs/specification.md#credentials',
    says: 'The secret appears only in the answer to the creation.',
  },
  {
    id: 'auth.keys.default-grants.admin',
    source: 'docs/specification.md#credentials',
    says: 'A key that an admin creates without explicit grants has the eight grants of the specification.',
  },
  {
    id: 'auth.keys.default-grants.other',
    source: 'docs/specification.md#credentials',
    says: 'For any other or unknown role the default is svc:query.read and svc:docs.read.',
  },
  {
    id: 'auth.keys.explicit-grants',
    source: 'docs/specification.md#credentials',
    says: 'A key has exactly the explicit grants that its creator also has.',
  },
  {
    id: 'auth.keys.list',
    source: 'docs/specification.md#credentials',
    says: 'GET /v1/apikeys lists the keys of project_id to its admins, with every field of the contract and without secrets.',
  },
  {
    id: 'auth.keys.revoke',
    source: 'docs/specification.md#credentials',
    says: 'DELETE /v1/apikeys/{key_id} returns the id and revoked true to an admin of project_id.',
  },
  {
    id: 'auth.keys.revoke.immediate',
    source: 'docs/specification.md#credentials',
    says: 'The next call with a revoked key is answered 401 by every API process.',
  },
  {
    id: 'auth.keys.expired',
    source: 'docs/specification.md#credentials',
    says: 'A key that has expired is answered 401. What it has saved goes on until somebody revokes the key.',
  },
  {
    id: 'auth.keys.hashed',
    source: 'docs/specification.md#credentials',
    says: 'A key consists of svc_sk_ and 32 random bytes, and only its SHA-256 hash is stored.',
  },
  {
    id: 'resource.api-key',
    source: 'docs/specification.md#credentials',
    says: 'The answer to a creation has id, name, note, secret and a scope with its seven fields.',
  },
  {
    id: 'resource.lifecycle',
    source: 'docs/specification.md#governed-calls',
    says: 'A lifecycle record has lifecycle_id, tool, status and stages, each with stage, status and detail.',
  },

  {
    id: 'auth.user-token.claims',
    source: 'docs/specification.md#credentials',
    says: 'A user token carries sub, role, org_id, dept_id, project_id and token_use.',
  },
  {
    id: 'auth.user-token.grants',
    source: 'docs/specification.md#credentials',
    says: 'Grants come from the claims, or from the default of the role when there are none.',
  },
  {
    id: 'auth.user-token.outside-issuer',
    source: 'docs/guides/accounts.md',
    says: 'A token of the configured external issuer is verified by its JWKS, issuer, audience and algorithm.',
  },
  {
    id: 'auth.jwt.checked',
    source: 'docs/specification.md#credentials',
    says: 'A JWT with a wrong issuer, audience, algorithm, time or token_use is answered 401.',
  },
  {
    id: 'auth.jwt.rotation',
    source: 'docs/specification.md#credentials',
    says: 'After a key rotation, tokens signed by the old key are valid until they expire, and new tokens are signed by the new key.',
  },
  {
    id: 'auth.jwks',
    source: 'docs/specification.md#context-gateway',
    says: 'GET /.well-known/jwks.json publishes only the public parts of the keys.',
  },

  {
    id: 'auth.sign-in',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/auth/sign-in returns a user token for a mail address and password.',
  },
  {
    id: 'auth.login',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/auth/login returns access_token, token_type, expires_in, refresh_token and scope.',
  },
  {
    id: 'auth.login.lifetime',
    source: 'docs/specification.md#governed-calls',
    says: 'A session token is valid for one hour and can be refreshed for at most thirty days.',
  },
  {
    id: 'auth.login.slowed',
    source: 'docs/specification.md#context-gateway',
    says: 'Repeated login failures are throttled with 429, and an unknown address gets the same answer as a wrong password.',
  },
  {
    id: 'auth.own-sessions',
    source: 'docs/guides/accounts.md#passwords-and-sign-in',
    says: 'GET /v1/auth/sessions lists the sessions of the person that have not ended, with their program, last use and which is this one.',
  },
  {
    id: 'auth.own-sessions.last-use',
    source: 'docs/guides/accounts.md#passwords-and-sign-in',
    says: 'The last use of a session is written at most once a minute.',
  },
  {
    id: 'auth.own-sessions.end',
    source: 'docs/guides/accounts.md#passwords-and-sign-in',
    says: 'A person ends one or all others of their own sessions; the next call of an ended session is answered 401, and a session of somebody else 404.',
  },
  {
    id: 'auth.refresh',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/auth/refresh returns a new pair of tokens and invalidates the old refresh token.',
  },
  {
    id: 'auth.refresh.grace',
    source: 'docs/specification.md#credentials',
    says: 'A refresh token that is repeated within ten seconds gets the same successor again.',
  },
  {
    id: 'auth.refresh.reuse',
    source: 'docs/specification.md#credentials',
    says: 'A refresh token that is reused later revokes its whole family, including access tokens.',
  },
  {
    id: 'auth.refresh.hashed',
    source: 'docs/specification.md#credentials',
    says: 'A refresh token begins with svc_srt_ and is stored only as a hash.',
  },
  {
    id: 'auth.logout',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /v1/auth/logout ends the session and its access and refresh tokens immediately.',
  },
  {
    id: 'auth.passwords',
    source: 'docs/specification.md#credentials',
    says: 'A password is stored only as an argon2id hash.',
  },
  {
    id: 'auth.session.not-for-keys',
    source: 'docs/specification.md#credentials',
    says: 'A session token on any /v1/apikeys route is answered 401 with the description "token invalid".',
  },

  {
    id: 'platform.api-keys.create',
    source: 'docs/specification.md#credentials',
    says: 'POST /api-key with the bearer token of a user creates a key by the rules of the gateway.',
  },

  {
    id: 'auth.keys.pinned',
    source: 'docs/guides/accounts.md',
    says: 'An API key acts in its own project and with its own grants, regardless of the role of its creator.',
  },
  {
    id: 'auth.login.network-limit',
    source: 'docs/guides/accounts.md',
    says: 'Failed sign-ins are limited for each IPv4 /24 or IPv6 /64, for each account and in total; an account stays open to networks from which it has signed in before.',
  },
  {
    id: 'auth.login.bounded',
    source: 'docs/guides/accounts.md',
    says: 'A limited number of passwords is verified concurrently; requests above the limit are answered 503.',
  },
  {
    id: 'auth.password.change',
    source: 'docs/guides/accounts.md',
    says: 'When a person changes their password, their other sessions end and the change is audited.',
  },
  {
    id: 'platform.credentials.person',
    source: 'docs/specification.md#conventions',
    says: 'The platform API accepts a user token, a session and the console cookie from its own origin, each with the role of the person.',
  },
  {
    id: 'auth.no-authority',
    source: 'docs/decisions/0018-authority-of-background-work.md',
    says: 'A run of a person without a role that permits it acts no more: it is paused or ended, its approvals are withdrawn, and admins decide on it in the inbox.',
  },
  {
    id: 'auth.leavers',
    source: 'docs/guides/accounts.md',
    says: 'The connectors of a person who has left the project are paused with a reason; whoever resumes a connector or schedule becomes its owner.',
  },
  {
    id: 'roles.table',
    source: 'docs/guides/accounts.md',
    says: 'One table gives each role its rights. Every route refuses people whose roles lack the right that the operation declares.',
  },
  {
    id: 'roles.union',
    source: 'docs/guides/accounts.md',
    says: 'A person with several roles has the rights and grants of all of them, on every surface.',
  },
  {
    id: 'roles.several',
    source: 'docs/guides/accounts.md',
    says: 'Members have one role or several: requests accept `role` or `roles`, and answers show both.',
  },
  {
    id: 'roles.no-escalation',
    source: 'docs/guides/accounts.md',
    says: 'Nobody gives, changes or takes a role with a right or grant that they do not have themselves.',
  },
  {
    id: 'roles.viewer',
    source: 'docs/guides/accounts.md',
    says: 'A VIEWER reads what an administrator reads, except secrets and what belongs to other people, and changes nothing.',
  },
  {
    id: 'roles.member',
    source: 'docs/guides/accounts.md',
    says: 'A MEMBER starts runs, and sees and steers only the runs that they have started, on every route.',
  },
  {
    id: 'roles.editor-and-approver',
    source: 'docs/guides/accounts.md',
    says: 'An EDITOR changes flows and decides nothing; an APPROVER decides and changes nothing else.',
  },
  {
    id: 'roles.guide',
    source: 'docs/guides/accounts.md',
    says: 'The table of roles in the guide is the table in the code.',
  },
  {
    id: 'organization.settings',
    source: 'docs/guides/accounts.md',
    says: 'Only a person with the role OWNER changes the settings of the organization, and the change is audited.',
  },
] as const satisfies readonly Requirement[];
