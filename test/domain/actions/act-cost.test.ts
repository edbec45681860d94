import { expect, test } from '@jest/globals';
import { actOfWorker, requestTo } from '../../support/act-of-worker.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';

/** The driver reports its commands only while spans are exported. */
const deps = useDeps({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
const sink = await useHttpSink();

test('a permitted act adds a fixed number of calls to MongoDB', async () => {
  verifies('act.cost');
  const workspace = await createWorkspace(deps);
  const act = actOfWorker(deps);
  const request = () => requestTo(`${sink.url}/${workspace.projectID}`, workspace);
  const { signal } = new AbortController();
  // The first act reads what the process then caches: the policies, and the end of the audit chain.
  expect(await act(request(), { signal })).toMatchObject({ output: { ok: true } });
  const commands: string[] = [];
  // The head of the audit chain is read only if another process has appended to it. The sweep for intents of dead processes
  // is not part of an act.
  const own = new Set([
    'credit_history',
    'customers',
    'memberships',
    'policy_versions',
    'intents',
    'lifecycles',
    'audit_entries',
  ]);
  const notOfTheAct = new Set(['find audit_entries', 'find intents']);
  deps.mongo.db.client.on('commandStarted', ({ commandName, command }: { commandName: string; command: any }) => {
    const collection = String(command[commandName]);
    const name = `${commandName} ${collection}`;
    if (commandName !== 'delete' && own.has(collection) && !notOfTheAct.has(name)) commands.push(name);
  });
  expect(await act(request(), { signal })).toMatchObject({ output: { ok: true } });
  // This run was never charged, so its credits are the deduction of the plan.
  expect(commands.sort()).toEqual([
    'find credit_history',
    'find customers',
    'find memberships',
    'find policy_versions',
    'insert audit_entries',
    'insert intents',
    'insert lifecycles',
  ]);
});
