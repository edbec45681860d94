import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { createSecretBox } from '../../../src/auth/secret-box.js';
import { createPayloadCodec } from '../../../src/temporal/payload-codec.js';
import { createWorkflowOrganizations } from '../../../src/temporal/workflow-organizations.js';
import { createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { moveExecution, prepareExecution, startExecution, untilExecution } from '../../support/executions.js';
import { agentThatCalls, flowThatCalls } from '../../support/flows.js';
import { useOwnTemporal } from '../../support/own-temporal.js';
import { useRunningProduct } from '../../support/running-product.js';
import { verifies } from '../../support/verifies.js';
import { coworker, scheduled } from '../platform/schedules/schedules.js';
import { sizeOf } from '../../requirements/full-forms.js';

const runs = sizeOf('ENCRYPTION_RUNS');
const atOnce = 10;
const canary = 'canary-7f3a91';

const temporal = useOwnTemporal();
const dataDir = mkdtempSync(path.join(tmpdir(), 'encryption-'));
mkdirSync(path.join(dataDir, 'blobs'));
afterAll(() => rmSync(dataDir, { recursive: true }));
const overrides: Record<string, string> = { DATA_DIR: dataDir };
beforeAll(() => void Object.assign(overrides, temporal.environment));
const product = useRunningProduct(overrides);
const deps = useDeps();

describe('what Temporal and the blob store keep', () => {
  test(
    `does not contain business data of ${runs} runs`,
    async () => {
      verifies('encryption.histories');
      const workspace = product.through(await createWorkspace(deps));
      await otherWays(workspace);
      // All runs share one agentflow, because a plan allows 1,000 agentflows.
      const agentflow = await workspace.api.post(`/agentflow?projectID=${workspace.projectID}`, canaryFlow(workspace));
      expect(agentflow).toMatchObject({ status: 201 });
      const executions: string[] = [];
      for (let at = 0; at < runs; at += atOnce) {
        const started = await Promise.all(
          Array.from({ length: Math.min(atOnce, runs - at) }, (_, index) =>
            startRun(workspace, agentflow.body._id, at + index),
          ),
        );
        await Promise.all(started.map((id) => untilExecution(workspace, id, 'completed')));
        executions.push(...started);
      }

      const stored = [...filesIn(temporal.dataDir), ...filesIn(path.join(dataDir, 'blobs'))].map((file) =>
        readFileSync(file),
      );
      // The control: the same search finds each workflow id, because ids are not secret.
      for (const id of executions) expect(stored.some((bytes) => bytes.includes(`execution/${id}`))).toBe(true);
      expect(filesIn(path.join(dataDir, 'blobs')).length).toBeGreaterThanOrEqual(runs);
      expect(stored.filter((bytes) => bytes.includes(workspace.organizationId)).length).toBeGreaterThan(0);
      for (const text of spellingsOf(canary)) expect(stored.filter((bytes) => bytes.includes(text))).toEqual([]);
    },
    120_000 + runs * 1000,
  );
});

/** Its action returns the canary, and its prompt contains it. */
function canaryFlow(workspace: Workspace): object {
  const url = `${product.sink.url}/${workspace.projectID}/answers`;
  product.sink.answer(`/${workspace.projectID}/answers`, (_request, res) =>
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ secret: canary })),
  );
  return {
    ...flowThatCalls([url]),
    agents: [{ ...agentThatCalls([url]), prompt: { template: `${canary} {{ goal }} {{ who }}` } }],
  };
}

/** A run with the canary in its goal, inputs and document. */
async function startRun(workspace: Workspace, agentflow_id: string, at: number): Promise<string> {
  const created = await workspace.api.post(`/execute_flow?projectID=${workspace.projectID}`, {
    agentflow_id,
    goal: `goal ${canary}`,
    // Too large for a history, so it is stored in the blob store.
    input_variables: { who: canary, ...(at === 0 && { large: `${canary} `.repeat(25_000) }) },
    files: [{ name: 'note.txt', content: `${canary} `.repeat(40) }],
  });
  expect(created).toMatchObject({ status: 201 });
  expect(await moveExecution(workspace, created.body.execution_id, 'execute')).toMatchObject({ status: 200 });
  return created.body.execution_id as string;
}

/** A failed action, a cancelled run with a reason, and a schedule. */
async function otherWays(workspace: Workspace): Promise<void> {
  product.sink.answer(`/${workspace.projectID}/fails`, (_request, res) =>
    res.writeHead(422).end(JSON.stringify({ error: canary })),
  );
  const failing = await startExecution(workspace, flowThatCalls([`${product.sink.url}/${workspace.projectID}/fails`]));
  await untilExecution(workspace, failing, 'failed');
  const { execution_id: cancelled } = await prepareExecution(workspace, flowThatCalls([]), { goal: canary });
  await moveExecution(workspace, cancelled, 'cancel', { reason: canary });
  await untilExecution(workspace, cancelled, 'failed');
  const schedule = await scheduled(workspace, {
    coworker_id: await coworker(workspace),
    goal: canary,
    type: 'interval',
    frequency: 86_400,
  });
  expect(await workspace.api.post(`/schedule/coworker/${schedule._id}/trigger`, {})).toMatchObject({ status: 200 });
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.log'))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** As text, and as base64 at each of its three alignments. */
function spellingsOf(text: string): string[] {
  return [
    text,
    ...[0, 1, 2].map((shift) =>
      Buffer.from('x'.repeat(shift) + text)
        .toString('base64')
        .slice(4, -4),
    ),
  ];
}

describe('the payload codec', () => {
  const keys = ['a'.repeat(32), 'b'.repeat(32)] as const;
  const codecOf = (secretsKey: string, organization: string) =>
    createPayloadCodec(
      createSecretBox({ secretsKey, dataDir, environment: 'test' }),
      createWorkflowOrganizations(() => Promise.resolve(organization)),
    );
  const context = { type: 'workflow', namespace: 'default', workflowId: 'execution/1' } as const;
  const plain = (): Payload[] => [defaultPayloadConverter.toPayload<unknown>({ text: canary })];
  const textOf = (payload: Payload | undefined) => defaultPayloadConverter.fromPayload(payload as Payload);

  test('decodes what an earlier key encrypted, after a rotation', async () => {
    verifies('encryption.rotation');
    const before = await codecOf(keys[0], 'org').encode(plain(), context);
    const rotated = codecOf(`${keys[1]},${keys[0]}`, 'org');
    expect(textOf((await rotated.decode(before, context))[0])).toEqual({ text: canary });
    const after = await rotated.encode(plain(), context);
    expect(textOf((await codecOf(keys[1], 'org').decode(after, context))[0])).toEqual({ text: canary });
    await expect(codecOf(keys[0], 'org').decode(after, context)).rejects.toThrow(
      'SECRETS_KEY does not contain the key',
    );
  });

  test('returns payloads from before the encryption unchanged', async () => {
    verifies('encryption.rotation');
    expect(textOf((await codecOf(keys[0], 'org').decode(plain(), context))[0])).toEqual({ text: canary });
  });

  test('uses another key for each organization', async () => {
    verifies('encryption.key-per-organization');
    const [mine] = await codecOf(keys[0], 'org-a').encode(plain(), context);
    const relabelled = { ...mine, metadata: { ...mine?.metadata, 'organization-id': Buffer.from('org-b') } } as Payload;
    await expect(codecOf(keys[0], 'org-b').decode([relabelled], context)).rejects.toThrow();
    expect(Buffer.from(mine?.data ?? []).includes(canary)).toBe(false);
  });
});
