import { expect, test } from '@jest/globals';
import { createAct } from '../../../src/domain/actions/act.js';
import { createPrepareAction } from '../../../src/domain/actions/call-action.js';
import { newId } from '../../../src/ids.js';
import { createMcpClient } from '../../../src/outbound/mcp-client.js';
import { createSmtpClient } from '../../../src/outbound/smtp-client.js';
import type { CallActionRequest } from '../../../workflows/agentflow-execution/steps/action.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { actionTo } from '../../support/flows.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';

/** Commands of the driver can be counted only while it reports them, which it does for spans. */
const deps = useDeps({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
const sink = await useHttpSink();

test('a permitted act adds a fixed number of calls to MongoDB', async () => {
  verifies('act.cost');
  const workspace = await createWorkspace(deps);
  const { collections } = deps.mongo;
  const prepare = createPrepareAction({
    http: deps.http,
    smtp: createSmtpClient(deps.config),
    mongo: deps.mongo,
    secrets: deps.auth.box,
    mcp: createMcpClient(deps.http),
    stdioCommands: {},
  });
  const act = createAct({ kernel: deps.kernel, collections, secrets: deps.auth.box, prepare });
  const request = (): CallActionRequest => {
    const execution_id = newId();
    return {
      idempotency_key: `${execution_id}/agent/skill/call`,
      project_id: workspace.projectID,
      connector_id: null,
      action: {
        ...actionTo(`${sink.url}/${workspace.projectID}`),
        input_schema: { fields: [] },
        output_schema: { fields: [] },
      },
      context: { goal: '', input_variables: {}, runtime_inputs: {}, documents: [], outputs: [], actions: [] },
      run: {
        ...{ execution_id, organization_id: workspace.organizationId, executed_by: workspace.userId },
        ...{ agentflow_id: newId(), agentflow_name: 'flow', agentflow_version: 0, agent_id: 'agent', agent_title: '' },
        ...{ started_by: 'person', tokens_spent: 0 },
      },
    };
  };
  const { signal } = new AbortController();
  // The first act reads what the process keeps: the policies, and the end of the audit chain.
  expect(await act(request(), { signal })).toMatchObject({ output: { ok: true } });
  const commands: string[] = [];
  // The head of the audit chain is read only if another process has appended to it. This process looks for intents at
  // intervals, in case their process died; that is not part of an act.
  const own = new Set(['memberships', 'policy_versions', 'intents', 'lifecycles', 'audit_entries']);
  const notOfTheAct = new Set(['find audit_entries', 'find intents']);
  deps.mongo.db.client.on('commandStarted', ({ commandName, command }: { commandName: string; command: any }) => {
    const collection = String(command[commandName]);
    const name = `${commandName} ${collection}`;
    if (commandName !== 'delete' && own.has(collection) && !notOfTheAct.has(name)) commands.push(name);
  });
  expect(await act(request(), { signal })).toMatchObject({ output: { ok: true } });
  expect(commands.sort()).toEqual([
    'find memberships',
    'find memberships',
    'find policy_versions',
    'insert audit_entries',
    'insert intents',
    'insert lifecycles',
  ]);
});
