import { expect, test } from '@jest/globals';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { useGcs } from '../support/gcs.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { pulled } = useGcs();

const adder = `name: Adder
steps:
  - { _id: add, type: set, values: { sum: inputs.one + inputs.other } }
`;
const passing = `cases:
  - name: adds numbers
    goal: Add
    input: { one: 2, other: 3 }
    expect: { output: { sum: 5 }, contains: ['"sum":5'] }
  - name: cannot add other things
    goal: Add
    input: { one: 2, other: x }
    expect: { status: failed }
`;

async function withAdder() {
  const folder = await pulled(await createWorkspace(deps));
  folder.write('agentflows/adder.yaml', adder);
  folder.write('agentflows/adder.test.yaml', passing);
  expect(await folder.gcs(['push'])).toMatchObject({ code: 0, stdout: '+ agentflows/adder\nFiles pushed: 1.\n' });
  return folder;
}

test('cases of a file run the draft and pass or fail by its output', async () => {
  verifies('cli.test');
  const folder = await withAdder();
  const passed = 'passed adder: adds numbers\npassed adder: cannot add other things\n';
  expect(await folder.gcs(['test'])).toMatchObject({ code: 0, stdout: passed, stderr: '' });
  expect(await folder.gcs(['test', 'adder'])).toMatchObject({ code: 0, stdout: passed });
  folder.edit('agentflows/adder.test.yaml', 'sum: 5 }, contains: [', 'sum: 6 }, contains: [Ada, ');
  const { code, stdout, stderr } = await folder.gcs(['test']);
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'gcs: 1 of 2 cases failed\n' });
  expect(stdout.split('\n')).toEqual([
    'failed adder: adds numbers',
    '  output: expected {"sum":6}, was {"sum":5}',
    '  output: expected a text with "Ada", was {"sum":5}',
    expect.stringMatching(/^ {2}run [0-9a-f-]{36}$/),
    'passed adder: cannot add other things',
    '',
  ]);
  const { results } = JSON.parse((await folder.gcs(['test', '--json'])).stdout);
  expect(results.map(({ differences }: { differences: string[] }) => differences.length)).toEqual([2, 0]);
});

test.each([
  ['cases: []', /cases: must be a list of at least one/],
  ['cases: [a]', /cases\[0\] must be an object/],
  ['cases: [{ name: a, expect: {} }]', /cases\[0\] goal: must be a text/],
  ['cases: [{ name: a, goal: b, expects: {} }]', /cases\[0\] expects: is unknown/],
  ['cases: [{ name: a, goal: b, expect: { conclusion: c } }]', /expect\.conclusion: is unknown; use output/],
])('wrong cases are refused before a run starts: %s', async (text, problem) => {
  verifies('cli.test');
  const folder = await withAdder();
  folder.write('agentflows/adder.test.yaml', text);
  expect(await folder.gcs(['test'])).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(problem) });
});
