import path from 'node:path';
import { newId } from '../../src/base/ids.js';
import { startScript } from './processes.js';
import { testRun } from './run.js';
import type { Workspace } from './fixture.js';
import type { Answer } from './client.js';

export interface OauthMcpServer {
  url: string;
  /** Changes the server's `config`, and answers its `stats` and valid tokens (`oauth-mcp-process.ts`). */
  control(changes?: object): Promise<any>;
  close(): Promise<unknown>;
}

/** An authorization server with the MCP server that it protects, in their own process. */
export async function startOauthMcpServer(): Promise<OauthMcpServer> {
  const log = path.join(testRun().logs, `oauth-mcp-${newId()}.log`);
  const running = await startScript('test/support/oauth-mcp-process.js', {}, log, 'listening');
  const base = `http://127.0.0.1:${String(running.up.port)}`;
  return {
    url: `${base}/mcp`,
    control: async (changes = {}) =>
      (await fetch(`${base}/control`, { method: 'POST', body: JSON.stringify(changes) })).json(),
    close: () => running.end('SIGKILL'),
  };
}

type Member = Pick<Workspace, 'api' | 'projectID'>;

export const authorizePath = ({ projectID }: Member, id: string) => `/connectors/${projectID}/${id}/authorize`;

/** The address to which the authorization server redirects the browser after `person` has signed in. */
export async function grantAccess(authorizationUrl: string, person: string): Promise<URL> {
  const answer = await fetch(`${authorizationUrl}&person=${person}`, { redirect: 'manual' });
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`the authorization server answered ${answer.status}`);
  return new URL(location);
}

/** The whole flow, as an API client completes it. */
export async function authorize(member: Member, id: string, person: string): Promise<Answer> {
  const begun = await member.api.post(authorizePath(member, id));
  if (begun.status !== 200) return begun;
  return complete(member, id, await grantAccess(begun.body.authorization_url, person));
}

export function complete(member: Member, id: string, back: URL): Promise<Answer> {
  return member.api.post(`${authorizePath(member, id)}/complete`, Object.fromEntries(back.searchParams));
}
