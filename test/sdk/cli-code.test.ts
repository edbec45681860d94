import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/base/packages.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { useGcs, type GcsFolder } from '../support/gcs.js';
import { pythonTest } from '../support/python-test.js';
import { verifies } from '../support/verifies.js';
import { invoiceInPython, invoiceInTypeScript } from './flows.js';

const deps = useDeps();
const { pulled } = useGcs();

async function project() {
  const workspace = await createWorkspace(deps);
  const folder = await pulled(workspace);
  mkdirSync(folder.file('node_modules/@governed-context'), { recursive: true });
  symlinkSync(path.join(packageRoot, 'sdk/node'), folder.file('node_modules/@governed-context/service'));
  const python = { ...folder.settings, PYTHONPATH: path.join(packageRoot, 'sdk/python/src') };
  const inPython = (args: string[]) => folder.gcs(args, python);
  const flows = async () => (await workspace.api.get('/agentflow')).body.data;
  return { ...workspace, folder, inPython, flows };
}

/** What a run of the draft returns. */
async function outputOf(folder: GcsFolder, flow: string) {
  const input = ['text=100 EUR', 'lines=[{"price":3}]'];
  const { code, stdout, stderr } = await folder.gcs([
    'run',
    flow,
    '--goal',
    'Read',
    '--input',
    ...input,
    '--wait',
    '--json',
  ]);
  expect({ code, stderr: code === 0 || stderr }).toEqual({ code: 0, stderr: true });
  return JSON.parse(stdout);
}

describe('gcs with agentflows in code', () => {
  test('pushes TypeScript, and the agentflow runs', async () => {
    verifies('cli.code');
    const { folder, flows } = await project();
    folder.write('flows/invoice.ts', invoiceInTypeScript);
    expect(await folder.gcs(['plan', 'flows/invoice.ts'])).toMatchObject({
      code: 2,
      stdout: '+ agentflows/invoice: create\nFiles that differ: 1 of 1.\n',
      stderr: '',
    });
    const push = ['push', 'flows/invoice.ts', '--release'];
    const published = expect.stringContaining('invoice: published as release 1');
    expect(await folder.gcs(push)).toMatchObject({ code: 0, stdout: published, stderr: '' });
    expect(await folder.gcs(['plan', 'flows/invoice.ts'])).toMatchObject({ code: 0, stdout: 'Nothing differs.\n' });
    expect(folder.contents('agentflows')).toEqual({});
    expect(await flows()).toMatchObject([{ name: 'Invoice', initialAgent: 'reader', steps: { length: 5 } }]);
    expect(await folder.gcs(['promote', 'invoice'])).toMatchObject({ code: 0 });
    expect(await outputOf(folder, 'invoice')).toMatchObject({ status: 'completed' });
  });

  pythonTest('pushes Python, and the agentflow runs', async () => {
    verifies('cli.code');
    const { folder, inPython, flows } = await project();
    folder.write('flows/invoice.py', `print("a text of the author")\n${invoiceInPython}`);
    expect(await inPython(['push', 'flows/invoice.py'])).toMatchObject({
      code: 0,
      stdout: '+ agentflows/invoice\nFiles pushed: 1.\n',
    });
    expect(await inPython(['plan', 'flows/invoice.py'])).toMatchObject({ code: 0, stdout: 'Nothing differs.\n' });
    expect(await flows()).toMatchObject([{ name: 'Invoice', initialAgent: 'reader', steps: { length: 5 } }]);
    expect(await outputOf(folder, 'invoice')).toMatchObject({ status: 'completed' });
  });

  test('changes only what the command line names, and never runs or deletes other code', async () => {
    verifies('cli.code');
    const { folder, flows, api } = await project();
    const written = (name: string) =>
      `export default { name: '${name}', agents: [{ _id: 'a', title: 'A', skills: [{ name: 'S' }] }] };`;
    folder.write('one.js', written('One'));
    folder.write('agentflows/two.yaml', 'name: Two\n');
    expect(await folder.gcs(['push', 'one.js'])).toMatchObject({
      code: 0,
      stdout: '+ agentflows/one\nFiles pushed: 1.\n',
    });
    expect(await folder.gcs(['plan', 'one.js'])).toMatchObject({ code: 0 });
    // The service has completed the skill, and a file that fails when it runs says that nothing runs.
    folder.write('one.js', 'throw new Error("must not run");');
    expect(await folder.gcs(['plan'])).toMatchObject({ code: 2, stdout: expect.not.stringContaining('one') });
    expect(await folder.gcs(['push', '--prune'])).toMatchObject({
      code: 0,
      stdout: '+ agentflows/two\nFiles pushed: 1.\n',
    });
    expect(await folder.gcs(['pull'])).toMatchObject({ code: 0 });
    expect(Object.keys(folder.contents('agentflows'))).toEqual(['two.yaml']);
    expect((await flows()).map(({ name }: { name: string }) => name).sort()).toEqual(['One', 'Two']);
    // What somebody else has changed is not overwritten.
    const [{ _id }] = (await flows()).filter(({ name }: { name: string }) => name === 'One');
    await api.patch(`/agentflow/${_id}`, { description: 'From the console' });
    folder.write('one.js', written('First'));
    expect(await folder.gcs(['push', 'one.js'])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('agentflows/one'),
    });
    expect(await folder.gcs(['push', 'one.js', '--force'])).toMatchObject({ code: 0 });
    expect((await api.get(`/agentflow/${_id}`)).body).toMatchObject({ name: 'First', description: '' });
  });

  test.each([
    ['flow.ts', 'throw new Error("out of order");', /^gcs: flow\.ts: cannot be run: .*out of order\n$/],
    ['flow.ts', 'export const flow = {};', /^gcs: flow\.ts: the default export must be an agentflow/],
    ['flow.ts', 'export default { agents: [] };', /^gcs: flow\.ts: name: must be a text\n$/],
    ['flow.py', 'raise ValueError("out of order")', /^gcs: flow\.py: cannot be run: ValueError: out of order\n$/],
    ['flow.py', 'other = 1', /^gcs: flow\.py: the variable flow must be an agentflow/],
    ['flow.txt', '', /^gcs: flow\.txt: must be a file of a project/],
  ])('says what is wrong: %s with %s', async (name, text, problem) => {
    verifies('cli.code');
    const { folder } = await project();
    folder.write(name, text);
    expect(await folder.gcs(['push', name])).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(problem),
    });
  });

  test('says which of two files has the agentflow, and reads nothing outside of the folder', async () => {
    verifies('cli.code');
    const { folder } = await project();
    folder.write('flow.js', `export default { name: 'Flow' };`);
    folder.write('agentflows/flow.yaml', 'name: Flow\n');
    const refused = async (...files: string[]) => {
      const { code, stderr } = await folder.gcs(['plan', ...files]);
      return [code, stderr];
    };
    expect(await refused('flow.js')).toEqual([
      3,
      expect.stringContaining('agentflows/flow.yaml has this agentflow too'),
    ]);
    folder.write('other/flow.js', `export default { name: 'Flow' };`);
    expect(await refused('flow.js', 'other/flow.js')).toEqual([3, expect.stringContaining('must be one file')]);
    expect(await refused('../flow.js')).toEqual([3, expect.stringContaining('is outside of this folder')]);
    expect(await refused('none.js')).toEqual([3, expect.stringContaining('there is no such file')]);
    expect(await folder.gcs(['plan', 'agentflows/flow.yaml'])).toMatchObject({ code: 2 });
  });
});
