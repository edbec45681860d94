import { describe, expect, test } from '@jest/globals';
import { mcpToolId } from '../../../src/domain/mcp-servers/record.js';
import { hashOf } from '../../../src/domain/mcp-servers/rules.js';
import { newId } from '../../../src/base/ids.js';
import type { ActRun } from '../../../workflows/agentflow-execution/act-messages.js';
import type { CallActionRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import { actOfWorker, requestTo } from '../../support/act-of-worker.js';
import { connectorOf, field } from '../../support/connectors.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../support/fixture.js';
import { connectServer } from '../../support/mcp-agents.js';
import { toolNamed } from '../../support/mcp-server.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const { signal } = new AbortController();

interface Step {
  request: Partial<CallActionRequest>;
  action?: object;
  run?: Partial<ActRun>;
}

/** The outcome of a step under one rule that forbids `operation` if the condition holds. No server receives its call. */
async function underRule(
  operation: string,
  condition: string,
  step: (workspace: Workspace) => Promise<Step>,
): Promise<unknown> {
  const workspace = await createWorkspace(deps);
  const admin = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN' });
  const rule = { policy_id: 'no', effect: 'forbid', tools: [operation], when: condition };
  const policies = [{ policy_id: 'permit', effect: 'permit' }, rule];
  expect(await admin.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
  const { request, action, run } = await step(workspace);
  const asked = { ...requestTo('http://127.0.0.1:1/', workspace), ...request };
  const merged = { ...asked, action: { ...asked.action, ...action }, run: { ...asked.run, ...run } };
  return actOfWorker(deps)(merged, { signal }).catch((error: unknown) => error);
}

const forbidden = { refused: { code: 'policy_denied' } };
const facts = (...given: [string, unknown][]) =>
  given.map(([name, value]) => `context.input.${name} == ${JSON.stringify(value)}`).join(' && ');

describe('rules see', () => {
  test.each(['person', 'schedule', 'trigger'] as const)(
    'an HTTP call of a run that a %s started',
    async (started_by) => {
      verifies('act.facts');
      const run = { started_by, agentflow_id: newId(), agentflow_version: 3, execution_id: newId(), tokens_spent: 70 };
      const condition = facts(
        ...([
          ['started_by', started_by],
          ['agentflow_id', run.agentflow_id],
          ['agentflow_version', 3],
        ] as [string, unknown][]),
        ...([
          ['execution_id', run.execution_id],
          ['tokens_spent', 70],
          ['tool', 'Call call'],
          ['method', 'DELETE'],
        ] as [string, unknown][]),
        ...([
          ['connector_id', ''],
          ['category', 'restful'],
          ['path', '/claims/7'],
          ['arguments', '{"word":"x"}'],
        ] as [string, unknown][]),
        ...([
          ['arguments_cut', false],
          ['read_only', false],
          ['destructive', true],
          ['open_world', true],
        ] as [string, unknown][]),
      );
      const action = {
        method: 'DELETE',
        endpoint: 'http://127.0.0.1:1/claims/7',
        input_schema: { fields: [field('word')] },
      };
      const request = { input: { arguments: { word: 'x' } } };
      expect(await underRule('act.http', condition, async () => ({ request, action, run }))).toMatchObject(forbidden);
    },
  );

  test('that they see only the beginning of long arguments', async () => {
    verifies('act.facts');
    const action = { input_schema: { fields: [field('word')] } };
    const request = { input: { arguments: { word: 'x'.repeat(20_000) } } };
    const cut = underRule('act.http', 'context.input.arguments_cut', async () => ({ request, action }));
    expect(await cut).toMatchObject(forbidden);
  });

  test.each([
    ['http://Receiver.Example.:8080/', ['host', 'receiver.example:8080']],
    ['http://receiver.example/%61dmin%2f', ['path', '/admin%2F']],
  ] as const)('one spelling of %s', async (endpoint, fact) => {
    verifies('act.facts');
    const step = async () => ({ request: {}, action: { endpoint } });
    expect(await underRule('act.http', facts([...fact]), step)).toMatchObject(forbidden);
  });

  test('the tool of an MCP server by its own name, however its action is named', async () => {
    verifies('act.facts', 'act.mcp');
    const erase = toolNamed('erase');
    const made = await underRule('act.mcp', facts(['tool', 'erase'], ['destructive', true]), async (workspace) => {
      const url = 'http://127.0.0.1:1/mcp';
      const connector_id = await connectServer(workspace, { url });
      await deps.mongo.collections.mcp_tools.insertOne({
        ...{ _id: mcpToolId(connector_id, 'erase'), connector_id, projectID: workspace.projectID, name: 'erase' },
        ...{ hash: hashOf(erase), definition: JSON.stringify(erase), server: url },
        ...{ accepted_by: 'p', accepted_at: 1, suspended: null },
      });
      const tool = { name: 'erase', hash: hashOf(erase), input_schema: {} };
      return { request: { connector_id }, action: { category: 'mcp', name: 'look up', endpoint: 'erase', tool } };
    });
    expect(made).toMatchObject(forbidden);
  });

  test('a message by its category', async () => {
    verifies('act.facts');
    const made = await underRule(
      'act.message',
      facts(['category', 'messaging'], ['path', '/chats/7/messages']),
      async (workspace) => {
        const config = { account_api_url: 'http://127.0.0.1:1', account_api_token: 'token' };
        const { _id: connector_id } = await connectorOf(workspace, 'messaging', config);
        // Simulates a connected account.
        await deps.mongo.collections.connectors.updateOne({ _id: connector_id }, { $set: { status: 'active' } });
        const request = { connector_id, input: { arguments: { chat_id: '7', text: 'Hello' } } };
        return { request, action: { category: 'messaging', endpoint: 'send_message' } };
      },
    );
    expect(made).toMatchObject(forbidden);
  });
});

describe('rules on the recipients of a mail', () => {
  const mailTo = (to: string | string[]) => async (workspace: Workspace) => {
    const config = { host: '127.0.0.1', port: 1, from: 'ada@example.org' };
    const { _id: connector_id } = await connectorOf(workspace, 'mail', config);
    const request = { connector_id, input: { arguments: { to, cc: 'cc@b.example', text: 'Hello' } } };
    return { request, action: { category: 'mail', endpoint: 'send' } };
  };
  const seen = (...recipients: string[]) => `context.input.recipients == ${JSON.stringify(recipients)}`;

  test.each([
    ['A@B.example', 'a@b.example'],
    ['Ada B <a@b.example>', 'a@b.example'],
    ['"Ada (B)" <a@b.example>', 'a@b.example'],
    ['a@xn--bcher-kva.example', 'a@bücher.example'],
  ])('see %s as %s', async (to, recipient) => {
    verifies('act.facts.recipients');
    expect(await underRule('act.mail', seen(recipient, 'cc@b.example'), mailTo(to))).toMatchObject(forbidden);
  });

  // A mail client would read the first address, and a rule the second.
  test.each([
    '<eve@c.example> <a@b.example>',
    'eve@c.example (<a@b.example>',
    '<eve@c.example>"<a@b.example>',
    'g: a@b.example',
  ])('cannot be deceived by %s', async (to) => {
    verifies('act.facts.recipients');
    expect(await underRule('act.mail', 'context.input.destructive', mailTo([to]))).toMatchObject({
      ...{ code: 'validation_failed', message: expect.stringContaining('not an email address') },
    });
  });
});
