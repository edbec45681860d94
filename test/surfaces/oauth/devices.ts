import type { Person } from '../../auth/auth-server.js';
import type { Answer } from '../../support/client.js';
import { postForm, signedInPage, token } from './flow.js';
import { openBrowser, type Browser, type BrowserPage } from './form-browser.js';
import { randomAddress, type OauthServer } from './oauth-server.js';

export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/** A request for device authorization, as the program received it. */
export interface Device {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
}

export function requestDevice(server: OauthServer, fields: Record<string, string> = {}): Promise<Answer> {
  const body = new URLSearchParams({ client_id: 'gcs', ...fields }).toString();
  return postForm(server.client(), '/oauth/device_authorization', body, { 'x-forwarded-for': randomAddress() });
}

export async function startDevice(server: OauthServer, fields: Record<string, string> = {}): Promise<Device> {
  const { status, body } = await requestDevice(server, fields);
  if (status !== 200) throw new Error(`not started: ${JSON.stringify(body)}`);
  return body as Device;
}

export function poll(server: OauthServer, { device_code }: Device, fields: Record<string, string> = {}) {
  return token(server.client(), { grant_type: deviceGrant, client_id: 'gcs', device_code, ...fields });
}

/** Signs in on the page of the device. */
export async function openDevice(
  server: OauthServer,
  person: Person,
  { user_code }: Device,
): Promise<{ browser: Browser; page: BrowserPage }> {
  const browser = openBrowser(server.url);
  return { browser, page: await signedInPage(browser, person, `/oauth/device?user_code=${user_code}`) };
}

export async function answerDevice(
  server: OauthServer,
  person: Person,
  device: Device,
  action: 'allow' | 'deny',
): Promise<BrowserPage> {
  const { browser, page } = await openDevice(server, person, device);
  return browser.submit(page, action);
}
