import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { packageRoot } from '../../../../src/base/packages.js';
import { eventually } from '../../../support/eventually.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { sizeOf } from '../../../requirements/full-forms.js';
import { file, send } from '../../../support/uploads.js';
import { verifies } from '../../../support/verifies.js';
import { expectSources, readWorld } from '../../../support/world.js';

/** A file of another project: its bytes, or its place in this repository or in an installed package. */
interface Case {
  name: string;
  source: string;
  licence: string;
  base64?: string;
  path?: string;
  /** What the stored text must contain. Spaces and line ends count alike. */
  words?: string[];
  /** What it must not contain. */
  absent?: string[];
  /** Why the file cannot be read. */
  refusal?: string;
}

const deps = useDeps();
const world = readWorld<Case>('files');
const all = world.cases.map((each) => ({ ...each, title: `${each.file}: ${each.name}` }));
const everyNth = Math.round(100 / sizeOf('WORLD_FILES_PERCENT'));
const cases = all.filter((_, at) => at % everyNth === 0);
const uploadsAtOnce = 4;

/** The stored text of a file, or why it was refused. */
const outcomes = new Map<string, { text: string; failure: string | null }>();

beforeAll(async () => {
  const workspace = await createWorkspace(deps);
  const waiting = [...cases];
  const uploadOthers = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop())
      outcomes.set(next.title, await outcomeOf(workspace, next));
  };
  await Promise.all(Array.from({ length: uploadsAtOnce }, uploadOthers));
}, 600_000);

async function outcomeOf(workspace: Workspace, { name, base64, path: place = '' }: Case) {
  const { api, projectID } = workspace;
  const bytes = base64 === undefined ? readFileSync(path.join(packageRoot, place)) : Buffer.from(base64, 'base64');
  const key = { 'idempotency-key': newId() };
  const { status, body } = await eventually(async () => {
    const answer = await send(api, `/knowledge_base/${projectID}/upload`, [file(name, bytes)], key);
    expect(answer.status).not.toBe(503);
    return answer;
  });
  if (status === 422) return { text: '', failure: JSON.stringify(body) };
  expect([status, body]).toEqual([202, { data: [expect.anything()] }]);
  const id = body.data[0].file._id as string;
  const { failure } = await eventually(async () => {
    const progress = (await api.get(`/knowledge_base/${projectID}/upload/${id}`)).body;
    expect(['completed', 'failed']).toContain(progress.status);
    return progress as { failure: string | null };
  });
  return { text: await storedText(projectID, id), failure };
}

async function storedText(projectID: string, id: string): Promise<string> {
  const { records } = await deps.graph.driver.executeQuery(
    `MATCH (c:DocumentChunk {project_id: $projectID})-[:PART_OF]->(:Document {project_id: $projectID, id: $id})
     RETURN c.heading AS heading, c.text AS text ORDER BY c.position`,
    { projectID, id },
  );
  return records.map((record) => `${record.get('heading') ?? ''}\n${record.get('text')}`).join('\n\n');
}

const spaced = (text: string) => text.replace(/\s+/g, ' ');

test('there are files of each format, each with its public source and licence', () => {
  verifies('knowledge-base.world');
  expectSources(world, all, { files: 13, cases: 200 });
  for (const { licence } of all) expect(licence).toMatch(/\S/);
});

test.each(cases)('$title', ({ title, words = [], absent = [], refusal }) => {
  verifies('knowledge-base.world');
  const { text = '', failure = null } = outcomes.get(title) ?? {};
  if (refusal !== undefined) {
    expect(failure).toContain(refusal);
    expect(text).toBe('');
    return;
  }
  expect([text !== '', failure]).toEqual([true, null]);
  for (const word of words) expect(spaced(text)).toContain(spaced(word));
  for (const word of absent) expect(spaced(text)).not.toContain(spaced(word));
});
