import { expect, test } from '@jest/globals';
import { useActs, ask, decide } from '../../../support/acts.js';
import { connectorOf } from '../../../support/connectors.js';
import { createWorkspace } from '../../../support/fixture.js';
import { useOwnApp } from '../../../support/own-app.js';
import { refusal } from '../../../support/refusal.js';
import { verifies } from '../../../support/verifies.js';

const { deps, sink, governed, auditOf } = await useActs();
const guarded = useOwnApp({ ALLOW_PRIVATE_TARGETS: 'false' });

const restful = (base: string) => ({ base_url: `${sink.url}${base}`, auth: { type: 'bearer', token: 'brr-s3cret' } });

test('a test call sends the credentials below the base URL, and returns the status and the beginning of the answer without them', async () => {
  verifies('connectors.test-call');
  const workspace = await createWorkspace(deps);
  const { api, projectID } = workspace;
  const base = `/${projectID}`;
  const { _id } = await connectorOf(workspace, 'restful', restful(base));
  const path = `/connectors/${projectID}/${_id}/test`;
  sink.answer(`${base}/echo`, ({ headers }, res) => void res.end(`you sent ${headers.authorization}`));
  sink.answer(`${base}/broken`, (_, res) => void res.writeHead(422).end('{"error":"no such claim"}'));
  const { status, body } = await api.post(path, { path: '/echo?limit=1' });
  expect({ status, body }).toMatchObject({ status: 200, body: { succeeded: true, status: 200, failure: null } });
  expect(body).toMatchObject({ duration_ms: expect.any(Number), excerpt: expect.stringMatching(/^you sent/) });
  expect(JSON.stringify(body)).not.toContain('s3cret');
  expect(sink.seen(`${base}/echo`)).toMatchObject([{ method: 'GET', headers: { authorization: 'Bearer brr-s3cret' } }]);
  expect((await api.post(path, { path: '/broken' })).body).toMatchObject({
    ...{ succeeded: false, status: 422, excerpt: '{"error":"no such claim"}' },
    failure: expect.stringContaining('status 422'),
  });
  expect((await api.get(`/connectors/${projectID}/${_id}`)).body).toMatchObject({ failures: 1 });
  expect(await api.post(path, { path: 'https://example.com' })).toMatchObject(refusal(400, 'invalid_request', 'path'));
  expect(await api.post(path, { path: '/../other' })).toMatchObject(refusal(422, 'validation_failed', 'path'));
  const mail = await connectorOf(workspace, 'mail', { host: 'mail.example.com', from: 'a@example.com' });
  expect(await api.post(`/connectors/${projectID}/${mail._id}/test`, {})).toMatchObject(
    refusal(422, 'validation_failed', 'mail'),
  );
  const other = await createWorkspace(deps);
  expect(await other.api.post(`/connectors/${other.projectID}/${_id}/test`, {})).toMatchObject(
    refusal(404, 'not_found'),
  );
  const { body: refused } = await guarded.through(workspace).api.post(path, { path: '/private' });
  expect(refused).toMatchObject({
    succeeded: false,
    status: null,
    failure: expect.stringContaining('not a public address'),
  });
  expect(sink.seen(`${base}/private`)).toEqual([]);
});

test('rules treat a test call as act.http: they forbid it, or hold it for the approved address', async () => {
  verifies('connectors.test-call');
  const of = await governed(
    { policy_id: 'never', effect: 'forbid', tools: ['act.http'], when: 'context.input.path like "*/forbidden"' },
    { ...ask, when: 'context.input.path like "*/asked"' },
  );
  const { api, projectID } = of.workspace;
  const { _id } = await connectorOf(of.workspace, 'restful', restful(of.prefix));
  const path = `/connectors/${projectID}/${_id}/test`;
  expect(await api.post(path, { path: '/forbidden' })).toMatchObject(refusal(403, 'S5:policy'));
  expect(of.seen('forbidden')).toBe(0);
  const held = await api.post(path, { path: '/asked' });
  expect(held).toMatchObject({ status: 202, body: { approval_id: expect.any(String) } });
  expect(await decide(of.approver, held.body.approval_id, 'approve')).toMatchObject({ status: 200 });
  expect(of.seen('asked')).toBe(0);
  expect((await api.post(path, { path: '/other' })).body).toMatchObject({ succeeded: true });
  expect((await auditOf(of)).map(({ outcome }) => outcome)).toContain('completed');
});

test('rules decide on each redirect of a test call, as for an act of an agent', async () => {
  verifies('connectors.test-call.redirects');
  const of = await governed(
    { policy_id: 'never', effect: 'forbid', tools: ['act.http'], when: 'context.input.path like "*/forbidden"' },
    { ...ask, when: 'context.input.path like "*/asked"' },
  );
  const { api, projectID } = of.workspace;
  const { _id } = await connectorOf(of.workspace, 'restful', restful(of.prefix));
  const path = `/connectors/${projectID}/${_id}/test`;
  for (const target of ['forbidden', 'asked', 'open'])
    sink.answer(
      `${of.prefix}/to-${target}`,
      (_, res) => void res.writeHead(302, { location: `${sink.url}${of.prefix}/${target}` }).end(),
    );
  for (const target of ['forbidden', 'asked']) {
    const { body } = await api.post(path, { path: `/to-${target}` });
    expect(body).toMatchObject({ succeeded: false, failure: expect.stringContaining('a redirect to') });
    expect(of.seen(target)).toBe(0);
  }
  expect((await api.post(path, { path: '/to-open' })).body).toMatchObject({ succeeded: true });
  expect(of.seen('open')).toBe(1);
});
