import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { sizeOf } from '../requirements/full-forms.js';
import { apiClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { createWorkspace, useDeps, userTokenOf, type Workspace } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { useOwnTemporal } from '../support/own-temporal.js';
import { ownDatabase } from '../support/run.js';
import { useRunningProduct } from '../support/running-product.js';
import { verifies } from '../support/verifies.js';

const runs = sizeOf('KILLED_ACT_RUNS');
/** Restarts take seconds, and much longer on a busy machine. */
const patience = { timeoutMs: 300_000 + runs * 10_000, everyMs: 100 };
const database = ownDatabase();
const deps = useDeps(database);
const temporal = useOwnTemporal();
const product = useRunningProduct(Object.assign(temporal.environment, database));

/** What happens to each call of a run, in this order. */
const calls = ['permitted', 'approved', 'rejected', 'forbidden', 'last'] as const;
type Name = (typeof calls)[number];
const keyOf = (run: string, name: Name) => `${run}/agent_1/skill_1/action_${calls.indexOf(name) + 1}`;

const policies = [
  { policy_id: 'permit', effect: 'permit' },
  {
    policy_id: 'ask',
    effect: 'require_approval',
    tools: ['act.http'],
    when: 'context.input.path like "*/approved" || context.input.path like "*/rejected"',
  },
  { policy_id: 'never', effect: 'forbid', tools: ['act.http'], when: 'context.input.path like "*/forbidden"' },
];

const killable = {
  worker: { kill: () => product.kill('worker'), start: () => product.start('worker') },
  api: { kill: () => product.kill('api'), start: () => product.start('api') },
  temporal: { kill: () => temporal.service.kill('SIGKILL'), start: () => temporal.service.restart() },
};

/** The receiver gets the permitted, the approved and the last call of each run. */
const requests = runs * 3;

/**
 * Each round kills each process once, in any order. The kills are spread over the progress of the runs: each one happens when
 * the receiver has got a random number of requests and has not answered the last one.
 */
async function killAtRandom(rounds: number, workspace: Workspace, isOver: () => boolean): Promise<string[]> {
  const kills: string[] = [];
  const all = Object.entries(killable);
  for (let round = 0; round < rounds; round += 1) {
    const left = [...all];
    while (left.length > 0) {
      const [chosen] = left.splice(Math.floor(Math.random() * left.length), 1);
      if (!chosen) continue;
      const at = ((kills.length + Math.random()) / (rounds * all.length)) * requests * 0.9;
      await eventually(() => expect(isOver() || product.requestsOf(workspace).length >= at).toBe(true), patience);
      if (isOver()) return kills;
      const [name, { kill, start }] = chosen;
      await kill();
      kills.push(name);
      await start();
    }
  }
  return kills;
}

/** What an approver saw of an approval. */
interface Asked {
  run: string;
  name: Name;
  /** The call had been approved and sent before, and its answer was lost. */
  isUnknown: boolean;
  decision: 'approve' | 'reject';
}

/** Decides everything that is pending until `isOver`. Whatever fails is tried again in the next round. */
async function approve(workspace: Workspace, token: string, asked: Map<string, Asked>, isOver: () => boolean) {
  while (!isOver()) {
    await delay(Math.random() * 200);
    await decidePending(apiClient(product.api.url, { authorization: `Bearer ${token}` }), workspace, asked).catch(
      () => undefined,
    );
  }
}

async function decidePending(
  api: ReturnType<typeof apiClient>,
  workspace: Workspace,
  asked: Map<string, Asked>,
): Promise<void> {
  const { body: pending } = await api.get('/v1/approvals?status=pending&limit=200');
  for (const { approval_id: id, execution_id: run } of pending.data) {
    const { body } = await api.get(`/v1/approvals/${id}`);
    if (body.payload === undefined) continue;
    const name = body.payload.input.call.url.split('/').at(-1) as Name;
    const isUnknown = String(body.payload.about.outcome ?? '').startsWith('unknown');
    // Like a person who checks at the receiver whether the call has arrived.
    const hasArrived = product.requestsOf(workspace).some(({ key }) => key === keyOf(run, name));
    const decision = name === 'approved' && !hasArrived ? 'approve' : 'reject';
    const first = asked.get(id) ?? { run, name, isUnknown, decision };
    asked.set(id, first);
    await api.post(`/v1/approvals/${id}/${first.decision}`, {}, { 'idempotency-key': id });
  }
}

/** Creates and starts the runs like a careful client, which repeats a call with its key until it is answered. */
async function startRuns(direct: Workspace, flow: object): Promise<string[]> {
  const persist = (path: string, body: object, key: string): Promise<any> =>
    eventually(async () => {
      const answer = await product.through(direct).api.post(path, body, { 'idempotency-key': key });
      expect(answer.status).toBeLessThan(300);
      return answer.body;
    }, patience);
  const agentflow = await persist(`/agentflow?projectID=${direct.projectID}`, flow, 'agentflow');
  const ids: string[] = [];
  let next = 0;
  const caller = async () => {
    for (let at = next++; at < runs; at = next++) {
      const { _id } = await persist('/execute_flow', { agentflow_id: agentflow._id, goal: `run ${at}` }, `make-${at}`);
      ids.push(_id);
      await persist(`/execute_flow/${_id}/execute`, {}, `execute-${at}`);
    }
  };
  await Promise.all(Array.from({ length: 10 }, caller));
  return ids;
}

async function untilCompleted({ projectID }: Workspace): Promise<void> {
  await eventually(async () => {
    const found = await deps.mongo.collections.executions.find({ projectID }, { projection: { status: 1 } }).toArray();
    const counts: Record<string, number> = {};
    for (const { status } of found) counts[status] = (counts[status] ?? 0) + 1;
    expect(counts).toEqual({ completed: runs });
  }, patience);
}

describe('acts of runs whose worker, API and Temporal are killed at random', () => {
  test(
    'every approved act arrives once, no other held act does, and each approval is requested once',
    async () => {
      verifies('act.kills', 'act.hold.asked-once');
      const direct = await createWorkspace(deps);
      const token = await userTokenOf(deps, direct, { userId: newId(), role: 'ORG_ADMIN' });
      const person = apiClient(product.api.url, { authorization: `Bearer ${token}` });
      expect(await person.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
      const prefix = `/${direct.projectID}`;
      const asked = new Map<string, Asked>();
      const unapproved: string[] = [];
      product.sink.answer(prefix, ({ key = '', path }, res) => {
        const isApproved = [...asked.values()].some(
          ({ run, name, decision }) => key === keyOf(run, name) && decision === 'approve',
        );
        if (path.endsWith('/approved') && !isApproved) unapproved.push(key);
        // Long enough that some calls are in progress when their worker is killed.
        setTimeout(() => res.setHeader('content-type', 'application/json').end('{"ok":true}'), Math.random() * 1000);
      });
      let isOver = false;
      const approving = approve(direct, token, asked, () => isOver);
      const killing = killAtRandom(Math.ceil(runs / 20), direct, () => isOver);
      const urls = calls.map((name) => `${product.sink.url}${prefix}/${name}`);
      let ids: string[];
      let kills: string[];
      try {
        ids = await startRuns(direct, flowThatCalls(urls));
        kills = await killing;
        await untilCompleted(direct);
      } finally {
        isOver = true;
        await Promise.allSettled([approving, killing]);
      }
      process.stdout.write(
        `${runs} runs, ${kills.length} kills, ${[...asked.values()].filter(({ isUnknown }) => isUnknown).length} unknown\n`,
      );
      expect(new Set(ids).size).toBe(runs);

      const arrived = product.sink.keys();
      const timesOf = (name: Name) => ids.map((id) => arrived.get(keyOf(id, name)) ?? 0);
      expect(timesOf('approved')).toEqual(ids.map(() => 1));
      expect([...timesOf('rejected'), ...timesOf('forbidden')].filter((times) => times > 0)).toEqual([]);
      expect(unapproved).toEqual([]);
      // A permitted act is made at least once, always with the same key, so that its receiver recognizes a repeat.
      expect([...timesOf('permitted'), ...timesOf('last')].filter((times) => times === 0)).toEqual([]);
      expect(product.requestsOf(direct).filter(({ key }) => !ids.includes(key?.split('/')[0] ?? ''))).toEqual([]);

      const questions = ids.flatMap((id) => [`${id} approved`, `${id} rejected`]).sort();
      const known = [...asked.values()].filter(({ isUnknown }) => !isUnknown);
      expect(known.map(({ run, name }) => `${run} ${name}`).sort()).toEqual(questions);
      const stored = await deps.mongo.collections.approvals.find({ project_id: direct.projectID }).toArray();
      expect(stored.map(({ _id }) => _id).sort()).toEqual([...asked.keys()].sort());
      expect(stored.filter(({ status }) => status === 'pending')).toEqual([]);
      const waiting = { project_id: direct.projectID, status: 'pending_approval' as const };
      expect(await deps.mongo.collections.lifecycles.find(waiting).toArray()).toEqual([]);
      const verified = await apiClient(product.api.url, { authorization: `Bearer ${token}` }).get('/v1/audit/verify');
      expect(verified.body).toMatchObject({ valid: true, first_broken_seq: null });
    },
    patience.timeoutMs * 2,
  );
});
