import { createHash, randomBytes } from 'node:crypto';
import type { Person } from '../../auth/auth-server.js';
import type { ApiClient, Answer } from '../../support/client.js';
import { openBrowser, type Browser, type BrowserPage } from './form-browser.js';
import { randomAddress, type OauthServer } from './oauth-server.js';

export const redirectUri = 'https://client.example/callback';
export const allScopes =
  'svc:query.read svc:docs.read svc:ontology.write svc:orchestrate.read svc:orchestrate.write svc:agent.run svc:codesync.write';

export interface TestClient {
  client_id: string;
  client_secret?: string;
  token_endpoint_auth_method: string;
}

export async function registerClient(server: OauthServer, metadata: Record<string, unknown> = {}): Promise<TestClient> {
  const body = {
    client_name: 'Test client',
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'none',
    ...metadata,
  };
  const answer = await server.client().post('/oauth/register', body, { 'x-forwarded-for': randomAddress() });
  if (answer.status !== 201) throw new Error(`not registered: ${JSON.stringify(answer.body)}`);
  return answer.body as TestClient;
}

interface Pkce {
  verifier: string;
  challenge: string;
}

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** The address of an authorization request. A field that is null is omitted. */
export function authorizationPath(
  client: TestClient,
  { challenge }: Pkce,
  fields: Record<string, string | null> = {},
): string {
  const all = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 'state of the client',
    scope: allScopes,
    ...fields,
  };
  const present = Object.entries(all).filter((field): field is [string, string] => field[1] !== null);
  return `/oauth/authorize?${new URLSearchParams(present).toString()}`;
}

interface Choice {
  projectId?: string;
  scopes?: string[];
}

/** Signs in on the page and allows the selected access; returns the parameters of the answer. */
export async function allow(
  server: OauthServer,
  person: Person,
  path: string,
  choice: Choice = {},
): Promise<URLSearchParams> {
  const browser = openBrowser(server.url);
  return answerOf(await press(browser, await signedInPage(browser, person, path), 'allow', choice));
}

export async function signedInPage(browser: Browser, person: Person, path: string): Promise<BrowserPage> {
  const page = await browser.open(path);
  return browser.submit(page, 'sign-in', { email: person.email, password: person.password });
}

export async function press(
  browser: Browser,
  page: BrowserPage,
  action: string,
  { projectId, scopes }: Choice,
): Promise<BrowserPage> {
  const picked = projectId === undefined ? page : await browser.submit(page, 'show', { project: projectId });
  return browser.submit(picked, action, { ...(scopes && { scope: scopes }) });
}

export function answerOf({ location }: BrowserPage): URLSearchParams {
  if (location === undefined) throw new Error('the page did not redirect');
  return new URL(location).searchParams;
}

export interface Tokens {
  access_token: string;
  refresh_token: string;
  token_type: string;
  expires_in: number;
  scope: string;
}

/** Completes the whole flow of a public client in one call. */
export async function obtainTokens(
  server: OauthServer,
  person: Person,
  options: { client?: TestClient; fields?: Record<string, string | null>; choice?: Choice } = {},
): Promise<{ client: TestClient; tokens: Tokens; code: string; verifier: string }> {
  const client = options.client ?? (await registerClient(server));
  const pkce = newPkce();
  const answer = await allow(server, person, authorizationPath(client, pkce, options.fields), options.choice);
  const code = answer.get('code') ?? '';
  const exchanged = await exchange(server.client(), client, { code, code_verifier: pkce.verifier });
  if (exchanged.status !== 200) throw new Error(`no tokens: ${JSON.stringify(exchanged.body)}`);
  return { client, tokens: exchanged.body as Tokens, code, verifier: pkce.verifier };
}

export function exchange(api: ApiClient, client: TestClient, fields: Record<string, string>): Promise<Answer> {
  return token(api, {
    grant_type: 'authorization_code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    ...fields,
  });
}

export function refresh(
  api: ApiClient,
  client: TestClient,
  refreshToken: string,
  fields: Record<string, string> = {},
): Promise<Answer> {
  return token(api, {
    grant_type: 'refresh_token',
    client_id: client.client_id,
    refresh_token: refreshToken,
    ...fields,
  });
}

export function token(
  api: ApiClient,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return postForm(api, '/oauth/token', new URLSearchParams(fields).toString(), headers);
}

export function postForm(
  api: ApiClient,
  path: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return api.post(path, body, { 'content-type': 'application/x-www-form-urlencoded', ...headers });
}
