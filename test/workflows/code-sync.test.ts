import { beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/ids.js';
import { codeSyncWorkflowId } from '../../workflows/code-sync/messages.js';
import { createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { ownProduct } from '../support/own-product.js';
import type { Api } from '../support/processes.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const product = ownProduct({ DOWNSTREAM_PORT: '0' });
let api: Api;
let workspace: Workspace;
beforeAll(async () => {
  workspace = await createWorkspace(deps);
  [api] = await Promise.all([product.api(), product.worker()]);
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

async function push(repository: string, commits: object[], after: string): Promise<any> {
  const delivery = newId();
  const body = JSON.stringify({ ref: 'refs/heads/main', after, repository: { full_name: repository }, commits });
  const headers = { 'x-github-event': 'push', 'x-github-delivery': delivery, 'content-type': 'application/json' };
  expect((await fetch(`${api.url}/v1/codesync/webhook/github`, { method: 'POST', headers, body })).status).toBe(200);
  return deps.temporal.client.workflow.getHandle(codeSyncWorkflowId(workspace.projectID, delivery)).result();
}

async function bound(): Promise<string> {
  const repository = `octo/${newId()}`;
  const binding = { repository, branch: null, project_id: workspace.projectID, organization_id: workspace.organizationId, bound_by: 'x', bound_at: 1 };
  await deps.mongo.collections.repository_bindings.insertOne({ _id: `${repository}|${workspace.projectID}`, ...binding });
  return repository;
}

describe('codeSync', () => {
  test('brings commits, authors and touched paths into the graph, with a lifecycle and an audit entry', async () => {
    verifies('code-sync');
    const repository = await bound();
    const commits = [commit('a', { added: ['src/a.ts', 'src/b.ts'] }), commit('b', { modified: ['src/a.ts'], removed: ['src/b.ts'], author: { name: 'Ada L.', email: 'ADA@example.com' } })];
    expect(await push(repository, commits, 'b'.repeat(40))).toMatchObject({ commits: 2 });
    expect(await graph('MATCH (c:Commit {project_id: $projectId})-[:AUTHORED_BY]->(a:Author) RETURN c.sha AS sha, a.email AS email, c._source AS source ORDER BY sha')).toEqual([
      { sha: 'a'.repeat(40), email: 'ADA@example.com', source: `repository ${repository}` },
      { sha: 'b'.repeat(40), email: 'ADA@example.com', source: `repository ${repository}` },
    ]);
    expect(await graph('MATCH (c:Commit {project_id: $projectId})-[t:TOUCHED]->(f:File) RETURN left(c.sha, 1) AS sha, t.change AS change, f.path AS path ORDER BY sha, path')).toEqual([
      { sha: 'a', change: 'added', path: 'src/a.ts' },
      { sha: 'a', change: 'added', path: 'src/b.ts' },
      { sha: 'b', change: 'modified', path: 'src/a.ts' },
      { sha: 'b', change: 'removed', path: 'src/b.ts' },
    ]);
    const facts = await graph("MATCH (f:Fact {project_id: $projectId}) WHERE f.predicate = 'head of main' RETURN f.object AS object");
    expect(facts).toEqual([{ object: 'b'.repeat(40) }]);
    const lifecycle = await deps.mongo.collections.lifecycles.findOne({ project_id: workspace.projectID, tool: 'code-sync' });
    expect(lifecycle).toMatchObject({ status: 'completed' });
    expect(await deps.mongo.collections.audit_entries.countDocuments({ lifecycle_id: lifecycle?._id ?? '' })).toBe(1);
  });

  test('takes a push that is larger than a history holds', async () => {
    const paths = Array.from({ length: 3000 }, (_, at) => `${'deep/'.repeat(30)}file_${at}.ts`);
    expect(await push(await bound(), [commit('c', { added: paths })], 'c'.repeat(40))).toMatchObject({ commits: 1 });
    expect(await graph('MATCH (c:Commit {project_id: $projectId})-[:TOUCHED]->(f:File) WHERE c.sha STARTS WITH "c" RETURN count(f) AS files')).toEqual([{ files: 3000 }]);
  });
});
