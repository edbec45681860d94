import { beforeAll, describe, expect, test } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { bindRepository } from '../../../src/domain/connectors/operations/repositories.js';
import { newId } from '../../../src/base/ids.js';
import { eventually } from '../../support/eventually.js';
import { createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { ownProduct } from '../../support/own-product.js';
import type { Api } from '../../support/processes.js';
import { released } from '../../support/releases.js';
import { verifies } from '../../support/verifies.js';
import { expectSources, readWorld } from '../../support/world.js';
import { hmac, secrets } from './harness.js';

/** One request of a sender. It has one of the bodies, or none. */
interface Sent {
  method?: string;
  query?: string;
  headers?: Record<string, string>;
  type?: string;
  json?: unknown;
  form?: Record<string, string>;
  text?: string;
  base64?: string;
  /** The fields of a multipart form. */
  parts?: Record<string, string>;
  /** JSON in the field `payload` of a form. */
  payload?: unknown;
  /** A body of so many zeros. */
  zeros?: number;
  /** Repeats the commit of a push, with so many paths each. */
  commits?: number;
  paths?: number;
  /** Adds a member of this length. */
  filler?: number;
  gzip?: boolean;
  /** Signed with another secret. */
  unsigned?: boolean;
  /** Sent to an address that does not exist. */
  unknown?: boolean;
  /** The seconds since the request before. */
  wait?: number;
  answer?: { status: number; body?: object; text?: string; headers?: Record<string, string>; without?: string };
}

/** What a sender sends according to a public source, and what the product makes of it. */
interface Case {
  sender: string;
  name: string;
  source: string;
  /** The receiver: the events of a connected account if it is absent. */
  to?: 'event' | 'voice' | 'media' | 'notify' | 'github' | 'catalog';
  trigger?: { event?: string; id_fields?: string[] };
  /** The connector has a secret. */
  signed?: boolean;
  requests: Sent[];
  /** The number of events that the connector received. */
  events?: number;
  /** A part of the input of the run. */
  input?: object;
}

const world = readWorld<Case>('senders');
const cases = world.cases.map((each) => ({ ...each, title: `${each.sender} ${each.name}` }));

const deps = useDeps();
const { callback_deliveries: deliveries, executions } = deps.mongo.collections;
const environment: Record<string, string> = {
  DOWNSTREAM_PORT: '0',
  CODESYNC_WEBHOOK_SECRET: secrets.codesync,
  CATALOG_WEBHOOK_SECRET: secrets.catalog,
  CATALOG_QUIET_WINDOW_MS: '600000',
  CATALOG_LONGEST_WAIT_MS: '600000',
};
/** Without a worker: most cases are about the answer, and their runs need not happen. */
const waiting = ownProduct(environment);
const running = ownProduct(environment);
const callbackSecret = 'a secret of sixteen letters';
let workspace: Workspace;
let agentflowId: string;
let apis: { waiting: Api; running: Api };
beforeAll(async () => {
  workspace = await createWorkspace(deps);
  environment.CATALOG_PROJECT_ID = workspace.projectID;
  apis = { waiting: await waiting.api(), running: await running.api() };
  await running.worker();
  workspace = running.through(apis.running, workspace);
  const flow = await workspace.api.post(`/agentflow?projectID=${workspace.projectID}`, flowThatCalls([]));
  agentflowId = await released(workspace.api, flow.body._id);
});

interface Address {
  api: Api;
  path: string;
  secret?: string;
  signature?: string;
  connectorId?: string;
  repository?: string;
}

async function addressOf({ to = 'event', trigger, signed, input }: Case): Promise<Address> {
  const { projectID, organizationId } = workspace;
  const api = input ? apis.running : apis.waiting;
  if (to === 'catalog')
    return { api, path: '/v1/catalog/om/webhook', secret: secrets.catalog, signature: 'x-om-signature' };
  if (to === 'github') {
    const repository = `octo/${newId()}`;
    const binding = { repository, branch: null, projectId: projectID, organizationId, userId: 'x' };
    await bindRepository(deps.mongo.collections, deps.auth.box, binding);
    const signature = 'x-hub-signature-256';
    return { api, path: '/v1/codesync/webhook/github', secret: secrets.codesync, signature, repository };
  }
  const isOwnPath = to === 'voice' || to === 'media';
  const triggers = [{ agentflow_id: agentflowId, ...(isOwnPath && { kind: to }), ...trigger }];
  const made = await workspace.api.post(`/actions/mail/config?projectID=${projectID}`, {
    name: 'Office',
    ...(to !== 'notify' && { triggers }),
    ...(signed && { callback_secret: callbackSecret }),
  });
  expect(made).toMatchObject({ status: 200 });
  const { _id: connectorId, notify_path, triggers: stored } = made.body;
  const signedBy = signed ? { secret: callbackSecret, signature: 'x-hub-signature-256' } : {};
  if (to === 'notify') return { api, path: notify_path, connectorId };
  const path = isOwnPath
    ? `/${to}-provider/${stored[0].trigger_id}`
    : `/account-provider-webhook/${projectID}/${connectorId}`;
  return { api, path, connectorId, ...signedBy };
}

function jsonOf({ json, payload, commits, paths = 0, filler }: Sent, repository = ''): string {
  const value = (json ?? payload) as Record<string, any>;
  const named = Array.from({ length: paths }, (_, at) => `src/folder/${at}.ts`);
  const copies = Array.from({ length: commits ?? 0 }, (_, at) => ({
    ...value.commits[0],
    id: at.toString(16).padStart(40, '0'),
    modified: named,
  }));
  const changed = commits ? { ...value, commits: copies } : filler ? { ...value, filler: 'x'.repeat(filler) } : value;
  return JSON.stringify(changed).replaceAll('$repository', repository);
}

function bodyOf(sent: Sent, repository?: string): { type?: string; body?: Buffer | string } {
  if (sent.json !== undefined) return { type: 'application/json', body: jsonOf(sent, repository) };
  const form = 'application/x-www-form-urlencoded';
  if (sent.form) return { type: form, body: new URLSearchParams(sent.form).toString() };
  if (sent.payload !== undefined)
    return { type: form, body: new URLSearchParams({ payload: jsonOf(sent, repository) }).toString() };
  if (sent.base64 !== undefined) return { body: Buffer.from(sent.base64, 'base64') };
  if (sent.zeros !== undefined) return { body: Buffer.alloc(sent.zeros) };
  if (!sent.parts) return sent.text === undefined ? {} : { body: sent.text };
  const parts = Object.entries(sent.parts).map(
    ([name, value]) => `--xYzZY\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return { type: 'multipart/form-data; boundary=xYzZY', body: `${parts.join('')}--xYzZY--\r\n` };
}

function send({ api, path, secret, signature, repository }: Address, sent: Sent): Promise<Response> {
  const { type, body: plain } = bodyOf(sent, repository);
  const body = plain !== undefined && sent.gzip ? gzipSync(plain) : plain;
  const signedBy = sent.unsigned ? 'the secret of somebody else' : secret;
  const contentType = sent.type ?? type;
  const headers: Record<string, string> = {
    ...(contentType !== undefined && { 'content-type': contentType }),
    ...(sent.gzip && { 'content-encoding': 'gzip' }),
    ...(signedBy && signature && body !== undefined && { [signature]: `sha256=${hmac(signedBy, body)}` }),
    ...sent.headers,
  };
  const target = sent.unknown ? path.replace(/[^/]+$/, newId()) : path;
  const url = `${api.url}${target}${sent.query === undefined ? '' : `?${sent.query}`}`;
  return fetch(url, { method: sent.method ?? 'POST', headers, ...(body !== undefined && { body: body as never }) });
}

const claims = (connectorId: string) => deliveries.find({ _id: { $regex: `^connector/${connectorId}/` } }).toArray();

/** Lets time pass for the events that the connector has received. */
async function pass(connectorId: string, seconds: number) {
  for (const { _id, expires_at } of await claims(connectorId))
    await deliveries.updateOne({ _id }, { $set: { expires_at: new Date(expires_at.getTime() - seconds * 1000) } });
}

async function expectAnswer(sent: Sent, answer: Response) {
  const { status, body, text, headers = {}, without } = sent.answer ?? { status: 200, body: { status: 'accepted' } };
  const got = await answer.text();
  expect([answer.status, got.slice(0, 300)]).toEqual([status, expect.any(String)]);
  if (body) expect(JSON.parse(got)).toMatchObject(body);
  for (const [name, value] of Object.entries(headers)) expect(answer.headers.get(name)).toBe(value);
  if (without !== undefined) expect(got).not.toContain(without);
  if (text === undefined) {
    expect(answer.headers.get('content-type') ?? 'application/json').toMatch(/^application\/json/);
    return;
  }
  expect(got).toBe(text);
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
}

test('there are requests of many senders, each with its public source', () => {
  verifies('callbacks.world');
  expect(new Set(cases.map(({ sender }) => sender)).size).toBeGreaterThanOrEqual(60);
  expectSources(world, cases, { files: 11, cases: 137 });
});

describe('what a sender sends', () => {
  test.each(cases)('$title', async (each) => {
    verifies('callbacks.world', 'callbacks.challenges');
    const address = await addressOf(each);
    const { connectorId } = address;
    const events = new Set<string>();
    for (const sent of each.requests) {
      if (connectorId !== undefined) await pass(connectorId, sent.wait ?? 0);
      await expectAnswer(sent, await send(address, sent));
      if (connectorId === undefined) continue;
      for (const { callback_id } of await claims(connectorId)) events.add(String(callback_id));
    }
    if (connectorId === undefined) return;
    expect(events.size).toBe(each.events);
    if (!each.input) return;
    const [run] = await eventually(async () => {
      const found = await executions.find({ projectID: workspace.projectID }).toArray();
      const own = found.filter(({ input_variables }: any) => input_variables.trigger.connector_id === connectorId);
      expect(own.length).toBeGreaterThan(0);
      return own;
    });
    const { input_variables, files: documents } = run as any;
    expect(documents.length > 0 ? { trigger: input_variables.trigger } : input_variables).toMatchObject(each.input);
  });
});
