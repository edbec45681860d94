import { randomAddress } from '../oauth/oauth-server.js';
import type { Person } from '../../auth/auth-server.js';
import { apiClient } from '../../support/client.js';
import { testRun } from '../../support/run.js';

/** The console without a browser: a cookie, and forms as any program can send them. */
interface ConsoleClient {
  cookie: string | undefined;
  open(path: string, headers?: Record<string, string>): Promise<ConsoleAnswer>;
  /** Sends a form with the secret of the last opened page, unless another one is given. */
  send(path: string, fields?: Record<string, string>, csrf?: string | null): Promise<ConsoleAnswer>;
}

interface ConsoleAnswer {
  status: number;
  location: string | null;
  headers: Headers;
  html: string;
}

export function openConsole(): ConsoleClient {
  let secret = '';
  const load = async (
    path: string,
    init: RequestInit & { headers?: Record<string, string> },
  ): Promise<ConsoleAnswer> => {
    const headers = {
      'x-forwarded-for': randomAddress(),
      ...(client.cookie === undefined ? {} : { cookie: client.cookie }),
      ...init.headers,
    };
    const response = await fetch(`${testRun().url}${path}`, { ...init, headers, redirect: 'manual' });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) client.cookie = set.split(';')[0];
    const html = await response.text();
    secret = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? secret;
    return { status: response.status, location: response.headers.get('location'), headers: response.headers, html };
  };
  const client: ConsoleClient = {
    cookie: undefined,
    open: (path, headers = {}) => load(path, { headers }),
    send: (path, fields = {}, csrf = secret) =>
      load(path, {
        method: 'POST',
        body: new URLSearchParams({ ...fields, ...(csrf === null ? {} : { csrf_token: csrf }) }),
      }),
  };
  return client;
}

export async function signedInConsole({
  email,
  password,
  workspace,
}: Person): Promise<ConsoleClient & { base: string }> {
  const client = openConsole();
  await client.open('/console/sign-in');
  const { status } = await client.send('/console/sign-in', { email, password });
  if (status !== 303) throw new Error(`sign-in was answered ${status}`);
  const base = `/console/projects/${workspace.projectID}`;
  await client.open(base);
  return Object.assign(client, { base });
}

/** The token that requests of a page with this cookie send as `X-CSRF-Token`. */
export async function csrfOf(cookie: string): Promise<string> {
  const response = await fetch(`${testRun().url}/console/session`, { headers: { cookie } });
  return ((await response.json()) as { csrf_token: string }).csrf_token;
}

/** Calls the API as the pages of the console do, for calls that no page offers. Tests can change the headers. */
export async function asPage(person: Person) {
  const { cookie = '' } = await signedInConsole(person);
  const csrf = await csrfOf(cookie);
  const { url } = testRun();
  const client = (headers: Record<string, string> = {}) =>
    apiClient(url, { cookie, 'x-csrf-token': csrf, origin: url, 'sec-fetch-site': 'same-origin', ...headers });
  return { cookie, csrf, client };
}
