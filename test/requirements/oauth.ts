import type { Requirement } from './requirement.js';

const ofDevices = { source: 'docs/oauth-security.md#devices' } as const;

/** The authorization server, its consent page, and the resource server. */
export const oauth = [
  {
    id: 'oauth.discovery.authorization-server',
    source: 'docs/specification.md#oauth',
    says: 'The authorization server document has the issuer, endpoints and supported values of the specification.',
  },
  {
    id: 'oauth.discovery.protected-resource',
    source: 'docs/specification.md#context-gateway',
    says: 'The protected resource document names the resource, its authorization server and the advertised scopes.',
  },
  {
    id: 'oauth.scopes',
    source: 'docs/specification.md#oauth',
    says: 'Exactly the seven scopes of the specification are advertised.',
  },
  {
    id: 'oauth.register',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /oauth/register registers a client by RFC 7591 with each of the three authentication methods.',
  },
  {
    id: 'oauth.register.invalid',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Unacceptable metadata, such as an unsafe redirect address, is refused with the codes of RFC 7591.',
  },
  {
    id: 'oauth.register.unused',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Registrations without a consent expire after a day, have at most 4096 bytes, and are limited for each address and in all.',
  },
  {
    id: 'oauth.register.limited',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Registrations beyond the rate limit are answered 429.',
  },
  {
    id: 'oauth.client-metadata-document',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A client can be identified by the address of its metadata document.',
  },
  {
    id: 'oauth.client-metadata-document.ssrf',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Fetching a metadata document does not reach private addresses or follow redirects, and its time and size are limited.',
  },
  {
    id: 'oauth.authorize',
    source: 'docs/specification.md#context-gateway',
    says: 'GET and POST /oauth/authorize lead through sign-in and consent to a code at the redirect address.',
  },
  {
    id: 'oauth.authorize.pkce',
    source: 'docs/specification.md#oauth',
    says: 'A request without PKCE or with the method plain is refused.',
  },
  {
    id: 'oauth.authorize.redirect-exact',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A redirect address must equal a registered one exactly, except for the port of a loopback address.',
  },
  {
    id: 'oauth.authorize.no-open-redirect',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'An unknown client or redirect address is shown to the person and is never a redirect target.',
  },
  {
    id: 'oauth.authorize.issuer',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'The answer at the redirect address has iss by RFC 9207 and the unchanged state.',
  },
  {
    id: 'oauth.authorize.resource',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A resource indicator determines the audience of the token; an unknown one is invalid_target.',
  },
  {
    id: 'oauth.authorize.scope-capped',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A client never gets a scope that the person cannot grant.',
  },
  {
    id: 'oauth.code.single-use',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A code works once, and a second use revokes the tokens of the first.',
  },
  {
    id: 'oauth.code.bound',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A code with another client, redirect address or verifier, or after its short lifetime, is invalid_grant.',
  },
  {
    id: 'oauth.token.code',
    source: 'docs/specification.md#context-gateway',
    says: 'POST /oauth/token exchanges a code for an access token and a refresh token, with Cache-Control no-store.',
  },
  {
    id: 'oauth.token.refresh',
    source: 'docs/specification.md#context-gateway',
    says: 'A refresh returns a new pair of tokens and invalidates the old refresh token.',
  },
  {
    id: 'oauth.token.refresh.grace',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A refresh that is repeated within ten seconds after a lost reply gets the same successor.',
  },
  {
    id: 'oauth.token.refresh.reuse',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A later reuse of a refresh token revokes its family.',
  },
  {
    id: 'oauth.token.refresh.parallel',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Fifty concurrent refreshes of one token, 200 times across two processes, leave one line of descent each time.',
    fullForm: 'REFRESH_ROUNDS',
  },
  {
    id: 'oauth.token.client-errors',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'An unknown client is answered 401 invalid_client and an ended grant 400 invalid_grant, so that clients register again.',
  },
  {
    id: 'oauth.token.client-authentication',
    source: 'docs/specification.md#oauth',
    says: 'Each authentication method of the token endpoint works, and a client can use only the method that it registered.',
  },
  {
    id: 'oauth.token.limited',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Token requests beyond the rate limit are answered 429.',
  },
  {
    id: 'oauth.revoke',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Revocation by RFC 7009 ends a token immediately and answers 200 even for an unknown one.',
  },
  {
    id: 'oauth.keys-rotate',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'OAuth tokens verify by the published keys before, during and after a rotation.',
  },
  {
    id: 'oauth.security-practice',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'The RFC 9700 checklist in docs answers each point and names the test that proves it.',
  },

  {
    id: 'oauth.consent.shows',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'The page says in plain words which client requests which access before the person can allow it.',
  },
  {
    id: 'oauth.consent.picks',
    source: 'docs/specification.md#context-gateway',
    says: 'The person selects organization, department, project and scopes, and allows or denies.',
  },
  {
    id: 'oauth.consent.denied',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Denying sends access_denied to the client and grants nothing.',
  },
  {
    id: 'oauth.consent.hardened',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'The page has a strict CSP, loads no external content and cannot be framed; a post without its CSRF token is refused.',
  },
  {
    id: 'oauth.consent.accessible',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'The page works by keyboard, by screen reader and on a phone, in a real browser.',
  },

  {
    id: 'oauth.resource.rest',
    source: 'docs/specification.md#credentials',
    says: 'An access token can call REST tools within its scopes; a missing scope is answered 403 at S2:resolve-scope.',
  },
  {
    id: 'oauth.resource.pinned',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'An access token is bound to the project selected at consent.',
  },
  {
    id: 'oauth.resource.audience',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A token for another audience is answered 401.',
  },
  {
    id: 'oauth.resource.hostile-tokens',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'alg none, a symmetric signature made with the public key, an expired token and a foreign issuer are each answered 401.',
  },
  {
    id: 'oauth.resource.api-keys',
    source: 'docs/specification.md#credentials',
    says: 'The scopes of an access token determine its rights at /v1/apikeys, and no advertised scope can create keys.',
  },
  {
    id: 'oauth.openid-client',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'openid-client completes discovery, code flow and refresh without special settings.',
  },

  {
    id: 'oauth.connected-apps.list',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A person lists their connected apps and an administrator those of the project, with client, scopes and last use.',
  },
  {
    id: 'oauth.connected-apps.end',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'The person and an administrator can disconnect an app immediately; the action is audited.',
  },
  {
    id: 'console.connected-apps',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'The console lists connected apps and disconnects them.',
  },
  {
    id: 'oauth.audited',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A revocation, a reused refresh token and a reused code each have an entry in the audit chain.',
  },
  {
    id: 'oauth.token.second-look',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A code is not exchanged if the role of its person changed after the consent.',
  },
  {
    id: 'oauth.authorize.no-redirect-of-errors',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A faulty authorization request shows a page and does not redirect automatically.',
  },
  {
    id: 'oauth.insufficient-scope',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A REST call whose OAuth token lacks the scope is answered 403 with a WWW-Authenticate that names insufficient_scope and the scopes.',
  },
  {
    id: 'oauth.app-schemes',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Private-use schemes that are reverse domain names can be registered as redirect addresses.',
  },
  {
    id: 'oauth.client-metadata-document.others',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Client metadata documents with null members, lists of methods, many addresses and unknown members can be used.',
  },
  {
    id: 'oauth.register.others',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'Registrations with null members and with the schemes of apps, also those in OAUTH_APP_SCHEMES, are accepted; schemes that run code are not.',
  },
  {
    id: 'oauth.client-authentication.any-way',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A client with a secret can send it by either method, but only by one at a time.',
  },
  {
    id: 'oauth.private-key-jwt',
    source: 'docs/guides/mcp-and-oauth.md',
    says: 'A client that signs must prove each request with an assertion (RFC 7523), which works once, with keys of its document or address, also after it changed them.',
  },
  {
    ...ofDevices,
    id: 'oauth.device.flow',
    says: 'A client of RFC 8628 discovers device authorization, and receives an API key of the project that a person has chosen on the page.',
  },
  {
    ...ofDevices,
    id: 'oauth.device.polling',
    says: 'Polls are answered with the codes of RFC 8628, section 3.5: pending, too fast with a longer interval, denied, expired.',
  },
  {
    ...ofDevices,
    id: 'oauth.device.once',
    says: 'One person answers a request once. All polls, also at the same time or after a lost answer, receive the same key.',
  },
  {
    ...ofDevices,
    id: 'oauth.device.key',
    says: 'The key has the grants that `gcs` needs, is stored only as a hash like the device code, expires after 90 days, and can be given back.',
  },
  {
    ...ofDevices,
    id: 'oauth.device.forms',
    says: 'The page needs the secret of its session, redirects only to itself, and shows what the device says about itself as text.',
  },
  {
    ...ofDevices,
    id: 'oauth.device.roles',
    says: 'Only a person who may create API keys on a project can allow one there.',
  },
  {
    ...ofDevices,
    id: 'oauth.device.governed',
    says: 'Policies forbid or hold the key like every other key; the page and the program say so.',
  },
  {
    ...ofDevices,
    id: 'oauth.device.limited',
    says: 'The number of codes that an address and a person can try, and of requests of an address, is limited.',
  },
  {
    ...ofDevices,
    id: 'oauth.device.readable',
    says: 'The pages are readable and fit at 1440 and 375 pixels, light and dark, without accessibility problems.',
  },
] as const satisfies readonly Requirement[];
