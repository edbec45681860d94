import type { components } from './openapi.js';

export type ConnectionInfo = components['schemas']['ConnectionInfo'];

export interface Workspace {
  /** Where the deployment is reached, without a slash at the end. */
  baseUrl: string;
  projectId: string;
  /** What the workspace header carries: `ws_<project id>`. */
  name: string;
}

/**
 * Reads a workspace URL: the deployment's base URL, with or without a path, and then `/ws_<project id>`.
 * @throws TypeError for anything else
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
 * The root of all routes, which is the API base without its version.
 * @throws Error where the addresses would send the key over plain HTTP though the workspace is HTTPS
 */
export function apiRoot({ baseUrl }: Workspace, { apiBaseUrl }: Pick<ConnectionInfo, 'apiBaseUrl'>): string {
  const { protocol } = new URL(apiBaseUrl);
  if (protocol !== 'https:' && !(protocol === 'http:' && baseUrl.startsWith('http:'))) {
    throw new Error(`${baseUrl} names the API base ${apiBaseUrl}, to which no key is sent from an HTTPS workspace`);
  }
  return apiBaseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
}
