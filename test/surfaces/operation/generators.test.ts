import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { apiClient } from '../../support/client.js';
import { createKey, createWorkspace, useDeps } from '../../support/fixture.js';
import type { Target } from '../../support/generators/generator.js';
import { generators } from '../../support/generators/generators.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';
import { sizeOf } from '../../requirements/full-forms.js';

const deps = useDeps();
const url = testRun().url;

let document: object;
let target: Target;
let expected: string;

beforeAll(async () => {
  document = (await apiClient(url).get('/openapi.json')).body;
  const key = await createKey(deps, await createWorkspace(deps));
  const agents = [
    { title: 'Reader', skills: [{ name: 'Reads', actions: [{ name: 'Read', endpoint: 'https://example.com' }] }] },
  ];
  const { status, body } = await apiClient(url, { 'x-api-key': key }).post('/agentflow', { name: 'Summary', agents });
  expect(status).toBe(201);
  target = { SERVICE_URL: url, SERVICE_KEY: key, AGENTFLOW_ID: body._id };
  expected = `Summary ${body.created_at}\n`;
});

/** The programs that a generator needs and this machine lacks. In CI none is missing. */
function missing(needs: readonly string[]): string[] {
  return needs.filter((program) => {
    try {
      execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
      return false;
    } catch {
      return true;
    }
  });
}

const chosen = generators.slice(0, sizeOf('GENERATORS'));
const notChecked = process.env.CI === undefined ? chosen.filter(({ needs }) => missing(needs).length > 0) : [];
for (const { name, needs } of notChecked)
  console.warn(`Not checked: clients of ${name}, which need ${missing(needs).join(', ')} on the PATH.`);

describe('the client that a public generator makes from the API reference', () => {
  test.each(chosen.filter((each) => !notChecked.includes(each)).map((each) => [each.name, each] as const))(
    'compiles, and reads an agentflow: %s',
    async (_name, { make, call }) => {
      verifies('reference.generators');
      const folder = await mkdtemp(path.join(tmpdir(), 'generated-'));
      await writeFile(path.join(folder, 'openapi.json'), JSON.stringify(document));
      await make(folder);
      expect(await call(folder, target)).toBe(expected);
      await rm(folder, { recursive: true });
    },
    1_800_000,
  );
});
