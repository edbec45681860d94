import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { exitCodes, Problem } from './problem.js';
import {
  clientOf,
  removeSettings,
  setVariables,
  settingsForLogin,
  storeSettings,
  storedSettings,
  type Settings,
} from './settings.js';
import { isObject } from './shape.js';
import { openPage, print, report } from './terminal.js';

/** The client id that the service knows (docs/oauth-security.md). */
const clientId = 'gcs';
const grantType = 'urn:ietf:params:oauth:grant-type:device_code';
/** What the service answers until something happens, which is not worth a line. */
const usualAnswer = 'the person has not answered yet';
const longestWaitSeconds = 60;
const requestTimeoutMs = 30_000;

interface LoginOptions {
  url?: string;
  project?: string;
}

/** Stores the settings for the commands that follow. Without a key, a person allows one in a browser (RFC 8628). */
export async function login(options: LoginOptions): Promise<void> {
  const given = settingsForLogin(options);
  const settings = given.apiKey === undefined ? await loginInBrowser(given.url, given.project) : given;
  await clientOf(settings).platform.agentflows.list({ limit: 1 });
  print(`The settings are stored in ${storeSettings(settings)}.`);
  if (given.apiKey === undefined) noteVariables();
}

/** Revokes the key if it came from a login in a browser, and removes the stored settings. */
export async function logout(): Promise<void> {
  const settings = storedSettings();
  if (!settings) return print('Nothing is stored.');
  const isRevoked = await giveBack(settings).catch((error: unknown) => {
    report(`gcs: the service cannot be asked to revoke the key: ${String(error)}; revoke it on the page API keys`);
    return false;
  });
  removeSettings();
  print(isRevoked ? 'The key is revoked, and the settings are removed.' : 'The settings are removed.');
}

/** Returns false for a key that somebody gave to `gcs login`: others may use it too. */
async function giveBack({ url, apiKey }: Settings): Promise<boolean> {
  const { status } = await post(url, '/oauth/revoke', { token: apiKey });
  return status === 200;
}

interface Started {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
}

async function loginInBrowser(url: string, project: string | undefined): Promise<Settings> {
  const { status, body } = await post(url, '/oauth/device_authorization', {
    device_name: hostname(),
    ...(project !== undefined && { project_id: project }),
  });
  if (status !== 200) throw new Problem(`the service does not start a login: ${textOf(body)}`, exitCodes.failed);
  const started = body as unknown as Started;
  report(`Open ${started.verification_uri} in a browser, and enter the code ${started.user_code}.`);
  report(`It is valid for ${Math.floor(started.expires_in / 60)} minutes. gcs waits for your answer.`);
  openPage(started.verification_uri_complete);
  const { access_token: apiKey, project_id } = await answerTo(url, started);
  if (typeof apiKey !== 'string' || typeof project_id !== 'string')
    throw new Problem('the service sent no key; it must be a Governed Context and Workflow Service', exitCodes.failed);
  report(`gcs has a key of the project ${project_id}.`);
  return { url, project: project_id, apiKey };
}

/** Polls until the person has answered (RFC 8628, 3.4 and 3.5). Failures of the network make the pauses longer. */
async function answerTo(url: string, started: Started): Promise<Record<string, unknown>> {
  // The service says when the code has expired. If it cannot be reached, this ends the wait.
  const endsAt = Date.now() + started.expires_in * 1000 + 2 * longestWaitSeconds * 1000;
  let interval = started.interval;
  let pause = interval;
  let shown: unknown = usualAnswer;
  while (Date.now() < endsAt) {
    await wait(pause * 1000);
    const fields = { grant_type: grantType, device_code: started.device_code };
    const answer = await post(url, '/oauth/token', fields).catch(() => undefined);
    if (answer === undefined || answer.status >= 500 || answer.status === 429) {
      pause = Math.min(2 * pause, longestWaitSeconds);
      continue;
    }
    const { status, body } = answer;
    if (status === 200) return body;
    if (body.error === 'slow_down') interval += 5;
    else if (body.error !== 'authorization_pending') throw new Problem(textOf(body), exitCodes.failed);
    else if (body.error_description !== shown) {
      // Why the key is not there yet, for example because a policy forbids it.
      shown = body.error_description;
      report(textOf(body));
    }
    pause = interval;
  }
  throw new Problem('nobody allowed the login in time; run `gcs login` again', exitCodes.failed);
}

/** The stored settings are not used as long as a variable is set. */
function noteVariables(): void {
  const names = setVariables();
  if (names.length > 0) report(`gcs: unset ${names.join(' and ')}, so that other commands use the stored settings`);
}

async function post(url: string, path: string, fields: Record<string, string>) {
  const response = await fetch(`${url.replace(/\/+$/, '')}${path}`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: clientId, ...fields }),
    signal: AbortSignal.timeout(requestTimeoutMs),
    redirect: 'error',
  });
  const body: unknown = await response.json().catch(() => ({}));
  return { status: response.status, body: isObject(body) ? body : {} };
}

function textOf({ error, error_description }: Record<string, unknown>): string {
  if (typeof error_description === 'string') return error_description;
  return typeof error === 'string' ? error : 'it does not answer like a Governed Context and Workflow Service';
}
