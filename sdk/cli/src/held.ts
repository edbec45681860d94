import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ServiceError, type Client } from '../../node/src/index.js';
import { isObject } from './shape.js';

/**
 * Returns a `fetch` that remembers in a file which calls wait for an approval. If the same call is made again, it is sent
 * with the resume token once somebody has approved it, and not at all before that: each request would be another approval.
 */
export function resumingFetch(file: string, clientOf: () => Client): typeof fetch {
  return async (input, init = {}) => {
    const { method = 'GET', body } = init;
    if (method === 'GET' || typeof body === 'object') return fetch(input, init);
    const call = createHash('sha256')
      .update(JSON.stringify([method, input instanceof Request ? input.url : String(input), body]))
      .digest('hex');
    const held = readHeld(file);
    const token = await tokenOf(clientOf(), held.get(call));
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set('X-Resume-Token', token);
    const response = await fetch(input, { ...init, headers });
    const approval = response.status === 202 ? await approvalIn(response.clone()) : undefined;
    if (approval !== undefined) held.set(call, approval);
    if (approval !== undefined || held.delete(call)) writeHeld(file, held);
    return response;
  };
}

/** Returns the token of an approved call; undefined if the call must be asked for anew. @throws ServiceError while nobody has decided */
async function tokenOf(client: Client, id: string | undefined): Promise<string | undefined> {
  if (id === undefined) return undefined;
  try {
    const { status, resume_token } = await client.call('get', '/v1/approvals/{id}', { params: { id } });
    if (status === 'pending') throw new ServiceError(202, { error: 'pending_approval', approval_id: id });
    return resume_token;
  } catch (error) {
    // It was requested in another project, or does not exist any more.
    if (error instanceof ServiceError && [403, 404].includes(error.status)) return undefined;
    throw error;
  }
}

async function approvalIn(response: Response): Promise<string | undefined> {
  const body: unknown = await response.json();
  return isObject(body) && body.status === 'pending_approval' ? String(body.approval_id) : undefined;
}

function readHeld(file: string): Map<string, string> {
  if (!existsSync(file)) return new Map();
  return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>));
}

function writeHeld(file: string, held: ReadonlyMap<string, string>): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(held), null, 2)}\n`, { mode: 0o600 });
}
