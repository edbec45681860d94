import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { bindRepository } from '../../src/domain/connectors/operations/repositories.js';
import { newId } from '../../src/base/ids.js';
import { codeSyncWorkflowId } from '../../workflows/code-sync/messages.js';
import { createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { testRun } from '../support/run.js';
import { storeRule } from '../support/governance/approvals.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const webhook = `${testRun().url}/v1/codesync/webhook/github`;
let workspace: Workspace;
beforeAll(async () => {
  workspace = await createWorkspace(deps);
});

async function graph(query: string): Promise<any[]> {
  const { records } = await deps.graph.driver.executeQuery(query, { projectId: workspace.projectID });
  return records.map((record) => record.toObject());
}

const commit = (letter: string, fields: object) => ({
  id: letter.repeat(40),
  message: `Change ${letter}\n\nMore words`,
  timestamp: '2026-01-02T03:04:05Z',
  author: { name: 'Ada', email: 'ada@example.com', username: 'ada' },
  added: [],
  modified: [],
  removed: [],
  ...fields,
});

async function push(
  repository: string,
  commits: object[],
  after: string,
  { before = '', pushed_at }: { before?: string; pushed_at?: number } = {},
): Promise<any> {
  const body = JSON.stringify({
    ref: 'refs/heads/main',
    before,
    after,
    repository: { full_name: repository, pushed_at },
    commits,
  });
  const delivery = createHash('sha256').update(body).digest('hex');
  const headers = { 'x-github-event': 'push', 'x-github-delivery': newId(), 'content-type': 'application/json' };
  expect((await fetch(webhook, { method: 'POST', headers, body })).status).toBe(200);
  return deps.temporal.client.workflow.getHandle(codeSyncWorkflowId(workspace.projectID, delivery)).result();
}

async function bound(): Promise<string> {
  const repository = `octo/${newId()}`;
  const { projectID: projectId, organizationId } = workspace;
  const binding = { repository, branch: null, projectId, organizationId, userId: 'x' };
  await bindRepository(deps.mongo.collections, deps.auth.box, binding);
  return repository;
}

describe('codeSync', () => {
  test('writes commits, authors and touched paths to the graph, with a lifecycle and an audit entry', async () => {
    verifies('code-sync');
    const repository = await bound();
    const commits = [
      commit('a', { added: ['src/a.ts', 'src/b.ts'] }),
      commit('b', {
        modified: ['src/a.ts'],
        removed: ['src/b.ts'],
        author: { name: 'Ada L.', email: 'ADA@example.com' },
      }),
    ];
    expect(await push(repository, commits, 'b'.repeat(40))).toMatchObject({ commits: 2 });
    expect(
      await graph(
        'MATCH (c:Commit {project_id: $projectId})-[:AUTHORED_BY]->(a:Author) RETURN c.sha AS sha, a.email AS email, c._source AS source ORDER BY sha',
      ),
    ).toEqual([
      { sha: 'a'.repeat(40), email: 'ADA@example.com', source: `repository ${repository}` },
      { sha: 'b'.repeat(40), email: 'ADA@example.com', source: `repository ${repository}` },
    ]);
    expect(
      await graph(
        'MATCH (c:Commit {project_id: $projectId})-[t:TOUCHED]->(f:File) RETURN left(c.sha, 1) AS sha, t.change AS change, f.path AS path ORDER BY sha, path',
      ),
    ).toEqual([
      { sha: 'a', change: 'added', path: 'src/a.ts' },
      { sha: 'a', change: 'added', path: 'src/b.ts' },
      { sha: 'b', change: 'modified', path: 'src/a.ts' },
      { sha: 'b', change: 'removed', path: 'src/b.ts' },
    ]);
    const facts = await graph(
      "MATCH (f:Fact {project_id: $projectId}) WHERE f.predicate = 'head of main' RETURN f.object AS object",
    );
    expect(facts).toEqual([{ object: 'b'.repeat(40) }]);
    const lifecycle = await deps.mongo.collections.lifecycles.findOne({
      project_id: workspace.projectID,
      tool: 'code-sync',
    });
    // A refused sync has the same caller (below).
    expect(lifecycle).toMatchObject({ status: 'completed', principal: { kind: 'service', user_id: 'code-sync' } });
    expect(await deps.mongo.collections.audit_entries.countDocuments({ lifecycle_id: lifecycle?._id ?? '' })).toBe(1);
  });

  test('keeps the head of a branch at the latest push, regardless of the order of delivery', async () => {
    verifies('code-sync.order-of-pushes');
    const headOf = async (repository: string) =>
      graph(`MATCH (r:Repository {project_id: $projectId, name: '${repository}'}), (f:Fact {project_id: $projectId, subject: r.id, predicate: 'head of main'})
             WHERE f.superseded_at IS NULL AND f.valid_to IS NULL RETURN left(f.object, 1) AS head`);
    const sha = (letter: string) => letter.repeat(40);
    const repository = await bound();
    const now = Math.floor(Date.now() / 1000);
    await push(repository, [commit('a', {})], sha('a'), { pushed_at: now - 300 });
    await push(repository, [commit('c', {})], sha('c'), { before: sha('b'), pushed_at: now - 100 });
    // The push between the two arrives late.
    await push(repository, [commit('b', {})], sha('b'), { before: sha('a'), pushed_at: now - 200 });
    expect(await headOf(repository)).toEqual([{ head: 'c' }]);
    // The branch is reset to an older commit by a host that does not report the time of the push.
    const [old, recent] = [commit('d', { timestamp: '2020-01-01T00:00:00Z' }), commit('e', {})];
    const other = await bound();
    await push(other, [recent], sha('e'));
    await push(other, [old], sha('d'), { before: sha('e') });
    expect(await headOf(other)).toEqual([{ head: 'd' }]);
  });

  test('accepts a push that is larger than a history can hold', async () => {
    const paths = Array.from({ length: 3000 }, (_, at) => `${'deep/'.repeat(30)}file_${at}.ts`);
    expect(await push(await bound(), [commit('c', { added: paths })], 'c'.repeat(40))).toMatchObject({ commits: 1 });
    expect(
      await graph(
        'MATCH (c:Commit {project_id: $projectId})-[:TOUCHED]->(f:File) WHERE c.sha STARTS WITH "c" RETURN count(f) AS files',
      ),
    ).toEqual([{ files: 3000 }]);
  });
});

/** Replacements in the text of a push, whose repository is `R`. Each has the status and, if accepted, the number of commits. */
const hostile = 'a\\u0000b\\ud800c';
const oneCommit = (fields: string) =>
  `{"ref":"refs/heads/main","after":"${'a'.repeat(40)}","repository":{"full_name":"R"},"commits":[{"id":"${'a'.repeat(40)}","author":{"name":"Ada"}${fields}}]}`;
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const pushes: [string, string, number][] = [
  [
    'NUL and half characters',
    oneCommit(`,"message":"${hostile}","added":["${hostile}",""],"removed":["${hostile}"]`),
    1,
  ],
  ['a branch with NUL', oneCommit('').replace('refs/heads/main', 'refs/heads/a\\u0000\\ud800'), 1],
  ['texts of 1 MiB', oneCommit(`,"message":"${'m'.repeat(1 << 20)}","added":["${'p'.repeat(1 << 20)}"]`), 1],
  [
    'an author of half characters',
    oneCommit('').replace('"Ada"', `"${hostile}","email":"${hostile}","username":"${hostile}"`),
    1,
  ],
  ['one path 2,000 times', oneCommit(`,"added":[${Array.from({ length: 2_000 }, () => '"p"').join(',')}]`), 1],
  [
    'invalid times',
    oneCommit(',"timestamp":"+999999-99-99"').replace('"full_name"', '"pushed_at":-1e300,"full_name"'),
    1,
  ],
  [
    'prototype names and operators',
    oneCommit(',"__proto__":{"added":["x"]},"$where":"1","added":["__proto__","$set"]'),
    1,
  ],
  ['deep nesting next to it', oneCommit(`,"x":${deep(5_000)}`), 1],
  [
    'commits that are not a list',
    oneCommit('').replace('"commits":[', '"commits":{"$ne":[').replace(/\]\}$/, ']}}'),
    0,
  ],
  ['wrong types', oneCommit(',"added":{"length":1},"message":7'), 0],
  ['an invalid id', oneCommit('').replaceAll('a'.repeat(40), '../x'), 0],
  ['JSON that breaks off', oneCommit('').slice(0, -1), 0],
  ['300,000 values', oneCommit(`,"added":[${Array.from({ length: 300_000 }, () => '""').join(',')}]`), 0],
];

describe('a push with', () => {
  test.each(pushes)('%s is refused or written to the graph, and a valid one follows', async (_name, text, commits) => {
    verifies('code-sync.outside-answers');
    const repository = await bound();
    const body = text.replace('"R"', `"${repository}"`);
    const headers = { 'x-github-event': 'push', 'content-type': 'application/json' };
    const answer = await fetch(webhook, { method: 'POST', headers, body });
    expect(answer.status).toBe(commits > 0 ? 200 : 400);
    if (commits > 0) {
      const delivery = createHash('sha256').update(body).digest('hex');
      const id = codeSyncWorkflowId(workspace.projectID, delivery);
      expect(await deps.temporal.client.workflow.getHandle(id).result()).toMatchObject({ commits });
    }
    expect(await push(repository, [commit('f', { added: ['f.ts'] })], 'f'.repeat(40))).toMatchObject({ commits: 1 });
  });

  test('more than a history can hold is written to the graph completely', async () => {
    verifies('code-sync.outside-answers');
    const repository = await bound();
    const added = Array.from({ length: 1_200 }, (_, at) => `large/${at}/${'d'.repeat(400)}`);
    expect(await push(repository, [commit('e', { added })], 'e'.repeat(40))).toMatchObject({ commits: 1 });
    const [{ touched }] = await graph(
      `MATCH (:Commit {project_id: $projectId, sha: '${'e'.repeat(40)}'})-[r:TOUCHED]->() RETURN count(r) AS touched`,
    );
    expect(Number(touched)).toBe(added.length);
  });

  test('is refused by a rule before it writes, and the refusal is its record', async () => {
    verifies('operation.no-bypass');
    await storeRule(deps, workspace, 'forbid', 'code-sync');
    const repository = await bound();
    await expect(push(repository, [commit('9', { added: ['no.ts'] })], '9'.repeat(40))).rejects.toMatchObject({
      cause: { type: 'S5:policy' },
    });
    const denied = { project_id: workspace.projectID, tool: 'code-sync', status: 'denied' } as const;
    const lifecycle = await deps.mongo.collections.lifecycles.findOne(denied);
    expect(lifecycle).toMatchObject({
      principal: { kind: 'service', user_id: 'code-sync' },
      decision: { decision: 'forbid', policy_ids: ['special'] },
      facts: { channel: 'callback' },
    });
    const { audit } = deps.governance;
    const { data } = await audit.list(workspace.organizationId, { limit: 50, lifecycle_id: lifecycle?._id ?? '' });
    expect(data).toMatchObject([{ actor: 'service:code-sync', resource: `repository:${repository}` }]);
    expect(await graph(`MATCH (c:Commit {project_id: $projectId, sha: '${'9'.repeat(40)}'}) RETURN c`)).toEqual([]);
  });
});
