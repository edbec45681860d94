import { createHash } from 'node:crypto';
import { newId } from '../../../src/base/ids.js';
import { hmac, secrets } from '../../surfaces/callbacks/harness.js';
import type { Answer } from '../../support/client.js';
import type { Workspace } from '../../support/fixture.js';
import type { Balanced } from './balanced.js';
import type { Ground } from './ground.js';
import type { Ledger } from './ledger.js';
import { holdSession } from './mcp-session.js';
import type { Tally } from './tally.js';

export interface Stage {
  ground: Ground;
  balanced: Balanced;
  ledger: Ledger;
  tally: Tally;
}

export interface Load {
  name: string;
  callers: number;
  /** The time between two calls of one caller. */
  pauseMs: number;
  /** Expected refusals of this load, as `status label`. Every load may get 429 and the 5xx of the contract. */
  refusals: readonly string[];
  act(stage: Stage, load: string): Promise<void>;
}

const isOk = ({ status }: Answer) => status < 300;
const bearer = ({ apiKey }: Workspace) => ({ authorization: `Bearer ${apiKey}` });

export const loads: readonly Load[] = [
  { name: 'query', callers: 1, pauseMs: 1000, refusals: [], act: query },
  { name: 'save', callers: 1, pauseMs: 1000, refusals: [], act: save },
  { name: 'over quota', callers: 4, pauseMs: 50, refusals: [], act: listRuns },
  { name: 'execution', callers: 2, pauseMs: 1500, refusals: ['409 conflict'], act: execute },
  { name: 'MCP session', callers: 2, pauseMs: 500, refusals: ['404 unknown session'], act: holdSession },
  { name: 'signed push', callers: 1, pauseMs: 1500, refusals: [], act: push },
  { name: 'signed catalog change', callers: 1, pauseMs: 1000, refusals: [], act: changeCatalog },
  { name: 'forwarded webhook', callers: 1, pauseMs: 500, refusals: [], act: forward },
];

async function query({ ground, balanced, ledger }: Stage, load: string): Promise<void> {
  const body = { query: 'MATCH (c:Customer) WHERE c.project_id = $project_id RETURN c LIMIT 10' };
  const answer = await balanced.post(load, { path: '/v1/query-context', body, headers: bearer(ground.governed) });
  if (isOk(answer)) ledger.note('lifecycle', answer.body.lifecycle_id as string);
}

async function save({ ground, balanced, ledger }: Stage, load: string): Promise<void> {
  const id = newId();
  const body = { source: 'soak', entities: [{ id, type: 'Customer', name: `Customer ${id}`, properties: {} }] };
  const answer = await balanced.post(load, { path: '/v1/save-context', body, headers: bearer(ground.governed) });
  if (!isOk(answer)) return;
  ledger.note('entity', id);
  ledger.note('lifecycle', answer.body.lifecycle_id as string);
}

async function listRuns({ ground, balanced, ledger }: Stage, load: string): Promise<void> {
  const answer = await balanced.post(load, {
    path: '/v1/orchestrate',
    body: { operation: 'list' },
    headers: bearer(ground.greedy),
  });
  if (isOk(answer)) ledger.note('lifecycle', answer.body.lifecycle_id as string);
}

/** Creates and starts each run with its own keys, so that a repeat is the same call. Pauses every fourth run midway. */
async function execute({ ground, balanced, ledger }: Stage, load: string): Promise<void> {
  const { flows, agentflowId } = ground;
  const name = newId();
  const post = (path: string, body: object, key: string) =>
    balanced.post(load, { path, body, headers: { 'x-api-key': flows.apiKey, 'idempotency-key': `${key}-${name}` } });
  const made = await post(
    `/execute_flow?projectID=${flows.projectID}`,
    { agentflow_id: agentflowId, goal: name },
    'create',
  );
  if (!isOk(made)) return;
  const id = made.body.execution_id as string;
  ledger.note('prepared', id);
  if (!isOk(await post(`/execute_flow/${id}/execute`, {}, 'execute'))) return;
  ledger.note('execution', id);
  if (ledger.of('execution').size % 4 !== 0) return;
  await post(`/execute_flow/${id}/pause`, {}, 'pause');
  await post(`/execute_flow/${id}/resume`, {}, 'resume');
}

async function push({ ground, balanced, ledger }: Stage, load: string): Promise<void> {
  const delivery = newId();
  const body = pushOf(ground, delivery);
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': delivery,
    'x-hub-signature-256': `sha256=${hmac(secrets.codesync, body)}`,
  };
  if (isOk(await balanced.post(load, { path: '/v1/codesync/webhook/github', body, headers })))
    ledger.note('push', delivery);
}

/** The body of a delivery, which also identifies it. */
export function pushOf(ground: Ground, delivery: string): string {
  const commit = {
    id: shaOf(delivery),
    message: 'Change',
    timestamp: '2026-01-02T03:04:05Z',
    author: { name: 'Ada', email: 'ada@example.com' },
    added: ['a.ts'],
  };
  return JSON.stringify({
    ref: 'refs/heads/main',
    after: commit.id,
    repository: { full_name: ground.repository },
    commits: [commit],
  });
}

/** The commit of a delivery. */
export function shaOf(delivery: string): string {
  return createHash('sha1').update(delivery).digest('hex');
}

async function changeCatalog({ balanced, ledger }: Stage, load: string): Promise<void> {
  const entityId = newId();
  const body = JSON.stringify({
    eventType: 'entityUpdated',
    entityType: 'table',
    entityId,
    entityFQN: 'shop.orders',
    changeType: 'schema',
    timestamp: Date.now(),
  });
  const headers = { 'content-type': 'application/json', 'x-om-signature': hmac(secrets.catalog, body) };
  if (isOk(await balanced.post(load, { path: '/v1/catalog/om/webhook', body, headers })))
    ledger.note('catalog event', entityId);
}

async function forward({ balanced, ledger }: Stage, load: string): Promise<void> {
  const id = newId();
  const headers = { 'content-type': 'application/json' };
  if (isOk(await balanced.post(load, { path: '/voice-provider/soak', body: JSON.stringify({ id }), headers })))
    ledger.note('forwarded', id);
}
