import { expect, test } from '@jest/globals';
import { ask, decide, heldApproval, useActs } from '../../../support/acts.js';
import { field, flowOf, outputsOf } from '../../../support/connectors.js';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { actionTo } from '../../../support/flows.js';
import { verifies } from '../../../support/verifies.js';

const { sink, governed, lifecyclesOf } = await useActs();

const fields = [
  { ...field('id'), in: 'path' },
  { ...field('ids', 'array'), in: 'query' },
  { ...field('X-Tenant'), in: 'header', value: 'acme {{ inputs.id }}' },
  { ...field('channel'), value: '#{{ goal }}' },
  field('text'),
];
const input_variables = { id: 'C-7', ids: [1, 2], text: 'Dear Ada', channel: 'another' };

test('an approver sees where each field goes, with rendered constants, and edits them', async () => {
  verifies('action.fields.places', 'act.edit');
  const of = await governed(ask);
  const path = `${of.prefix}/claims/C-7`;
  const action = {
    ...actionTo(`${sink.url}${of.prefix}/claims/{{ id }}`),
    content_type: 'application/x-www-form-urlencoded',
    input_schema: { fields },
  };
  const id = await startExecution(of.workspace, flowOf(null, action), { input_variables, goal: 'news' });
  const approval = await heldApproval(of, id);
  const { body } = await of.approver.get(`/v1/approvals/${approval}`);
  expect(body.payload.input.call).toEqual({
    method: 'POST',
    url: `${sink.url}${path}?ids=1&ids=2`,
    headers: { 'x-tenant': 'acme C-7' },
    content_type: 'application/x-www-form-urlencoded',
    body: { text: 'Dear Ada', channel: '#news' },
  });
  expect(body.editable_fields).toMatchObject({ 'X-Tenant': 'string', channel: 'string', id: 'string' });
  const edits = { 'X-Tenant': 'other', channel: '#quiet' };
  expect(await of.approver.post(`/v1/approvals/${approval}/approve`, { edits })).toMatchObject({ status: 200 });
  await untilExecution(of.workspace, id, 'completed');
  expect(sink.seen(path)).toMatchObject([
    { path: `${path}?ids=1&ids=2`, headers: { 'x-tenant': 'other' }, body: 'channel=%23quiet&text=Dear+Ada' },
  ]);
});

test('another constant is another call, and rules read constants as arguments', async () => {
  verifies('action.fields.places');
  const of = await governed(ask, {
    ...{ policy_id: 'quiet', description: 'Not to all.', effect: 'forbid', tools: ['act.http'] },
    when: 'context.input.arguments like "*#all*"',
  });
  const flow = (channel: string) =>
    flowOf(null, {
      ...actionTo(`${sink.url}${of.prefix}/post`),
      input_schema: { fields: [field('text'), { ...field('channel'), value: channel }] },
    });
  for (const channel of ['#one', '#two']) {
    const id = await startExecution(of.workspace, flow(channel), { input_variables });
    await decide(of.approver, await heldApproval(of, id), 'approve');
    await untilExecution(of.workspace, id, 'completed');
  }
  const digests = (await lifecyclesOf(of)).map(({ payload_digest }) => payload_digest);
  expect(new Set(digests).size).toBeGreaterThanOrEqual(2);
  const id = await startExecution(of.workspace, flow('#all'), { input_variables });
  const ended = await untilExecution(of.workspace, id, 'completed');
  expect(outputsOf(ended)).toMatchObject([{ error: { code: 'policy_denied', message: 'Not to all. (quiet)' } }]);
  expect(of.seen('post')).toBe(2);
});

test('a redirect of a POST passes the rules as the request that it becomes', async () => {
  verifies('action.restful.redirects');
  const of = await governed({
    ...{ policy_id: 'no-reads', description: 'Nobody reads.', effect: 'forbid', tools: ['act.http'] },
    when: 'context.input.method == "GET" && context.input.path like "*/read*"',
  });
  for (const [from, to, status] of [
    ['one', 'read', 303],
    ['two', 'read-two', 307],
  ] as const)
    sink.answer(`${of.prefix}/${from}`, (_, res) => res.writeHead(status, { location: to }).end());
  const ended = await untilExecution(of.workspace, await of.start('one', 'two'), 'completed');
  expect(outputsOf(ended)).toMatchObject([{ error: { code: 'policy_denied' } }, { ok: true }]);
  expect(sink.seen(`${of.prefix}/read`)).toMatchObject([{ method: 'POST', path: `${of.prefix}/read-two` }]);
});
