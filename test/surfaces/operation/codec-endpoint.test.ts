import { beforeAll, describe, expect, test } from '@jest/globals';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { apiClient } from '../../support/client.js';
import { untilExecution, startExecution } from '../../support/executions.js';
import { useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { testRun } from '../../support/run.js';
import { temporalCli } from '../../support/temporal-cli.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const api = apiClient(testRun().url);
const goal = 'a goal that only its organization reads';
let owner: Person;
let executionId: string;
let payloads: { metadata: Record<string, string>; data: string }[];

beforeAll(async () => {
  owner = await createPerson(deps);
  executionId = await startExecution(owner.workspace, flowThatCalls([]), { goal });
  await untilExecution(owner.workspace, executionId, 'completed');
  const { history } = await deps.temporal.client.workflowService.getWorkflowExecutionHistory({
    namespace: deps.config.temporal.namespace,
    execution: { workflowId: `execution/${executionId}` },
  });
  const input = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  payloads = input.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(
      Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
    ),
    data: Buffer.from(data ?? []).toString('base64'),
  }));
});

async function tokenOf({ email, password, workspace }: Person): Promise<Record<string, string>> {
  const { body } = await api.post('/v1/auth/sign-in', { email, password, project_id: workspace.projectID });
  return { authorization: `Bearer ${body.access_token}` };
}

const decode = (headers: Record<string, string> = {}) => api.post('/temporal/codec/decode', { payloads }, headers);
const dataOf = (body: { payloads: { data: string }[] }) =>
  body.payloads.map(({ data }) => Buffer.from(data, 'base64').toString()).join();

describe('POST /temporal/codec/decode', () => {
  test('decodes for an owner and an organization administrator of the same organization', async () => {
    verifies('encryption.codec-endpoint');
    expect(Buffer.from(payloads[0]?.data ?? '', 'base64').includes(goal)).toBe(false);
    const admin = await createPerson(deps, { role: 'ORG_ADMIN', workspace: owner.workspace });
    for (const person of [owner, admin]) {
      const { status, body } = await decode(await tokenOf(person));
      expect(status).toBe(200);
      expect(dataOf(body)).toContain(goal);
    }
  });

  test('returns payloads of another organization unchanged', async () => {
    verifies('encryption.codec-endpoint');
    const { status, body } = await decode(await tokenOf(await createPerson(deps)));
    expect([status, body]).toEqual([200, { payloads }]);
  });

  test('refuses members, API keys and callers without a sign-in', async () => {
    verifies('encryption.codec-endpoint');
    for (const role of ['MEMBER', 'PROJECT_ADMIN', 'VIEWER']) {
      const person = await createPerson(deps, { role, workspace: owner.workspace });
      expect(await decode(await tokenOf(person))).toMatchObject({ status: 403, body: { error: 'access_denied' } });
    }
    expect(await decode({ authorization: `Bearer ${owner.workspace.apiKey}` })).toMatchObject({ status: 403 });
    expect(await decode()).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
    expect(await decode({ cookie: 'svc_console=forged' })).toMatchObject({ status: 401 });
  });

  test('accepts the console sign-in only from pages of the Temporal UI', async () => {
    verifies('encryption.codec-endpoint');
    const form = await fetch(`${api.url}/console/sign-in`);
    const cookie = (answer: Response) =>
      answer.headers
        .getSetCookie()
        .map((set) => set.split(';')[0])
        .join('; ');
    const csrf = /name="csrf_token" value="([^"]+)"/.exec(await form.text())?.[1] ?? '';
    const fields = new URLSearchParams({ csrf_token: csrf, email: owner.email, password: owner.password });
    const signedIn = await fetch(`${api.url}/console/sign-in`, {
      method: 'POST',
      body: fields,
      headers: { cookie: cookie(form) },
      redirect: 'manual',
    });
    const ui = new URL(deps.config.temporal.uiUrl).origin;
    const answer = await decode({ cookie: cookie(signedIn), origin: ui });
    expect([
      answer.status,
      answer.headers.get('access-control-allow-origin'),
      answer.headers.get('access-control-allow-credentials'),
    ]).toEqual([200, ui, 'true']);
    expect(dataOf(answer.body)).toContain(goal);
    const foreign = await fetch(`${api.url}/temporal/codec/decode`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example' },
    });
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('names the fault in a body', async () => {
    const headers = await tokenOf(owner);
    for (const body of [{}, { payloads: 'x' }, { payloads: [{ data: '%' }] }]) {
      expect(await api.post('/temporal/codec/decode', body, headers)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request', error_description: expect.stringContaining('payloads') },
      });
    }
  });
});

describe('a payload that cannot be decrypted', () => {
  test.each([
    ['was changed', {}, 'AAAA'],
    ['has an unknown key', { 'encryption-key-id': Buffer.from('00000000').toString('base64') }, undefined],
    ['is empty', {}, ''],
  ])('is refused with its position: it %s', async (_what, metadata, data) => {
    verifies('encryption.codec-endpoint');
    const [first] = payloads;
    const broken = { data: data ?? first?.data, metadata: { ...first?.metadata, ...metadata } };
    const body = { payloads: [first, broken] };
    expect(await api.post('/temporal/codec/decode', body, await tokenOf(owner))).toMatchObject({
      status: 422,
      body: {
        error: 'validation_failed',
        error_description: expect.stringContaining('payloads.1 cannot be decrypted'),
      },
    });
  });
});

describe('POST /temporal/codec/encode', () => {
  test('encrypts for the organization of the person, so that decoding returns the original', async () => {
    verifies('encryption.codec-endpoint');
    const headers = await tokenOf(owner);
    const plain = [
      {
        metadata: { encoding: Buffer.from('json/plain').toString('base64') },
        data: Buffer.from('"secret"').toString('base64'),
      },
    ];
    const { body } = await api.post('/temporal/codec/encode', { payloads: plain }, headers);
    expect(dataOf(body)).not.toContain('secret');
    expect((await api.post('/temporal/codec/decode', body, headers)).body).toEqual({ payloads: plain });
  });
});

describe('temporal workflow show', () => {
  test('prints the goal only with --codec-endpoint and a user token', async () => {
    verifies('encryption.codec-endpoint');
    const temporal = temporalCli();
    if (!temporal) throw new Error('the stack has no Temporal CLI');
    const { authorization = '' } = await tokenOf(owner);
    const show = ['workflow', 'show', '--workflow-id', `execution/${executionId}`, '--output', 'json'];
    const decoded = ['--codec-endpoint', `${api.url}/temporal/codec`, '--codec-auth', authorization];
    expect(payloadsIn(await temporal(...show))).not.toContain(goal);
    expect(payloadsIn(await temporal(...show, ...decoded))).toContain(goal);
  });
});

function payloadsIn(output: string): string {
  return [...output.matchAll(/"data": "([^"]+)"/g)]
    .map(([, data = '']) => Buffer.from(data, 'base64').toString())
    .join('\n');
}
