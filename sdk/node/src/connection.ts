import type { components } from './openapi.js';

export type ConnectionInfo = components['schemas']['ConnectionInfo'];

export interface Workspace {
  /** The URL of the deployment, without a trailing slash. */
  baseUrl: string;
  projectId: string;
  /** The value of the workspace header: `ws_<project id>`. */
  name: string;
}

/**
 * Parses a workspace URL: the deployment's base URL, with an optional path, followed by `/ws_<project id>`.
 * @throws TypeError for any other text
 */
export function parseWorkspace(text: string): Workspace {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const [, prefix, name, projectId] = /^(.*)\/(ws_([^/]+))\/?$/.exec(url?.pathname ?? '') ?? [];
  const isPlain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === '';
  if (!isPlain || prefix === undefined || name === undefined || projectId === undefined) {
    throw new TypeError('SERVICE_WORKSPACE must be a workspace URL: https://<host>/ws_<project id>');
  }
  return { baseUrl: url.origin + prefix, projectId: decodeURIComponent(projectId), name: decodeURIComponent(name) };
}

/**
 * Returns the root of all routes, which is the API base URL without its version.
 * @throws Error if the workspace uses HTTPS and the API base does not, because the key would be sent over plain HTTP
 */
export function apiRoot({ baseUrl }: Workspace, { apiBaseUrl }: Pick<ConnectionInfo, 'apiBaseUrl'>): string {
  const { protocol } = new URL(apiBaseUrl);
  if (protocol !== 'https:' && !(protocol === 'http:' && baseUrl.startsWith('http:'))) {
    throw new Error(`${baseUrl} names the API base ${apiBaseUrl}, to which no key is sent from an HTTPS workspace`);
  }
  let end = apiBaseUrl.length;
  while (apiBaseUrl[end - 1] === '/') end -= 1;
  return apiBaseUrl.slice(0, end).replace(/\/v1$/, '');
}
