import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../support/fixture.js';
import { useGcs } from '../support/gcs.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { create: folderOf } = useGcs();

/** A workspace with an agentflow "Flow", and a folder for it. */
async function flowOf(steps: object[]) {
  const workspace = await createWorkspace(deps);
  const made = await workspace.api.post('/agentflow', { name: 'Flow', steps });
  expect(made).toMatchObject({ status: 201 });
  return { workspace, folder: folderOf(workspace) };
}

const code = (source: string) => ({ _id: 'last', type: 'code', title: 'The last step', source });
const run = (...more: string[]) => ['run', 'Flow', '--goal', 'g', '--draft', '--wait', ...more];

test('a run that fails ends with the whole reason', async () => {
  verifies('cli.run-reasons');
  const reason = `no colour is right: ${'x'.repeat(500)}`;
  const { folder } = await flowOf([code(`throw new Error(${JSON.stringify(reason)})`)]);
  const { stdout, stderr, code: ended } = await folder.gcs(run());
  expect({ stdout, ended }).toEqual({ stdout: '', ended: 1 });
  expect(stderr).toMatch(new RegExp(`The last step has failed: .*${reason}\n`));
  expect(stderr).toMatch(new RegExp(`gcs: run [0-9a-f-]+ has failed: .*${reason}\n$`));
});

/** Answers the first question of the workspace. */
async function answer(workspace: Workspace, values: object): Promise<void> {
  const person = await personOf(deps, workspace);
  const inbox = await eventually(async () => {
    const { body } = await person.get('/inbox');
    expect(body.data).toHaveLength(1);
    return body.data;
  });
  const reply = { decision: 'accept', values };
  expect(await person.post(`/inbox/${encodeURIComponent(inbox[0]._id)}/reply`, reply)).toMatchObject({ status: 200 });
}

test('a run that waits for a person says where to answer', async () => {
  verifies('cli.run-reasons');
  const form = { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] };
  const { workspace, folder } = await flowOf(
    [{ _id: 'ask', type: 'ask', title: 'Which colour?', form, next: 'last' }, code('return inputs.colour + "!"')].map(
      (step) => (step._id === 'last' ? { ...step, inputs: { colour: 'outputs.ask.colour' } } : step),
    ),
  );
  const [ended] = await Promise.all([folder.gcs(run()), answer(workspace, { colour: 'red' })]);
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('red!') });
  const [, address = ''] = /Which colour\? waits for an answer: (\S+)\n/.exec(ended.stderr) ?? [];
  expect(new URL(address).pathname).toBe(`/console/projects/${workspace.projectID}/inbox`);
});

test('numbers of the command line keep their digits', async () => {
  verifies('cli.run-inputs');
  const { folder } = await flowOf([
    {
      _id: 'set',
      type: 'set',
      values: { id: 'inputs.id', count: 'inputs.count + 1.0', zip: 'inputs.zip', large: 'inputs.large' },
    },
  ]);
  const inputs = ['id={"of":12345678901234567890}', 'count=2', 'zip=007', 'large=1e400'].flatMap((each) => [
    '--input',
    each,
  ]);
  const { stdout } = await folder.gcs(run(...inputs, '--json'));
  expect(JSON.parse(stdout)).toMatchObject({
    conclusion: { output: { id: { of: '12345678901234567890' }, count: 3, zip: '007', large: '1e400' } },
  });
});
