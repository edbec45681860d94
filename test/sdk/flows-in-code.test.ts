import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { agent, cel, defineAgentflow, inputs, liquid, step } from '../../sdk/node/src/index.js';
import { packageRoot } from '../../src/base/packages.js';
import { pythonTest } from '../support/python-test.js';
import { verifies } from '../support/verifies.js';
import { invoiceInPython, invoiceInTypeScript } from './flows.js';
import { python, pythonWithTools } from './python.js';

const run = promisify(execFile);
const folder = mkdtempSync(path.join(tmpdir(), 'flows-'));
afterAll(() => rmSync(folder, { recursive: true }));

const line = {
  type: 'object',
  properties: { price: { type: 'number' } },
  required: ['price'],
  additionalProperties: false,
};
const compiled = {
  name: 'Invoice',
  initialAgent: 'reader',
  input_schema: {
    type: 'object',
    properties: { text: { type: 'string' }, lines: { type: 'array', items: line } },
    required: ['text', 'lines'],
    additionalProperties: false,
  },
  agents: [
    {
      _id: 'reader',
      title: 'Reader',
      next_agent: 'each',
      prompt: { template: 'Read: {{ text }}' },
      output_schema: {
        type: 'object',
        properties: { net: { type: 'number' }, tax: { type: 'number' } },
        required: ['net', 'tax'],
        additionalProperties: false,
      },
    },
  ],
  steps: [
    { _id: 'each', type: 'map', items: 'inputs.lines', as: 'line', first: 'double', next: 'sum' },
    { _id: 'double', type: 'set', values: { twice: 'line.price * 2' } },
    {
      _id: 'sum',
      type: 'set',
      values: { total: 'outputs.reader.net + outputs.reader.tax', first: 'inputs.lines[0].price' },
      next: 'size',
    },
    { _id: 'size', type: 'branch', cases: [{ name: 'large', when: 'outputs.sum.total > 100', next: 'last' }] },
    { _id: 'last', type: 'set', values: { size: 'outputs.size.case' } },
  ],
};

/** The compiler's messages for lines after a flow, each line in a program of its own. */
function problemsIn(lines: readonly string[]): string[][] {
  const files = lines.map((text, at) => {
    const file = path.join(folder, `flow-${at}.mts`);
    const program = invoiceInTypeScript.replace('@governed-context/service', `${packageRoot}/sdk/node/src/index.js`);
    writeFileSync(file, `${program}\n${text}\n`);
    return file;
  });
  const program = ts.createProgram(files, {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: ['node'] },
    ...{ target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, lib: ['lib.es2023.d.ts'] },
    typeRoots: [path.join(packageRoot, 'node_modules/@types')],
  });
  return files.map((file) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  );
}

describe('an agentflow in TypeScript', () => {
  test('has references whose fields are those of the schemas', () => {
    verifies('sdk.flows.types');
    const wrong: [string, RegExp][] = [
      ['void reader.output.nett;', /'nett' does not exist/],
      ['void order.txt;', /'txt' does not exist/],
      ['void each.item.prize;', /'prize' does not exist/],
      ['void sum.output.totals;', /'totals' does not exist/],
      ['void size.output.name;', /'name' does not exist/],
      [
        'void step({ _id: "a", type: "code", source: "" }, { type: "object", properties: { b: {} } }).output.c;',
        /'c' does not/,
      ],
      [
        'void step({ _id: "a", type: "set", values: { b: "outputs.reader.nett" } });',
        /not assignable to type 'Expression/,
      ],
      ['void step({ _id: "a", type: "set", values: {}, nxt: "b" });', /not assignable to type 'never'/],
      ['void agent({ _id: "a", title: "A", nxt: "b" });', /not assignable to type 'never'/],
      ['void defineAgentflow({ name: "A", nodes: [reader] });', /no agent or step has the id each/],
      ['void defineAgentflow({ name: "A", nodes: [size] });', /no agent or step has the id last/],
      ['void defineAgentflow({ name: "A", nodes: [last], initialAgent: "first" });', /"first"/],
      ['void liquid`${cel`1`}`;', /not assignable/],
    ];
    const right = ['', 'void step({ _id: "a", type: "code", source: "" }).output.anything[0].at.all;'];
    const problems = problemsIn([...right, ...wrong.map(([text]) => text)]);
    expect(problems.slice(0, right.length)).toEqual(right.map(() => []));
    for (const [at, [text, problem]] of wrong.entries())
      expect([text, problems[right.length + at]]).toEqual([text, [expect.stringMatching(problem)]]);
  });

  test('makes the document of the API', async () => {
    verifies('sdk.flows');
    const { outputText } = ts.transpileModule(invoiceInTypeScript, {
      compilerOptions: { module: ts.ModuleKind.ES2022 },
    });
    const file = path.join(folder, 'document.mjs');
    writeFileSync(file, outputText.replace('@governed-context/service', `${packageRoot}/sdk/node/dist/esm/index.js`));
    const program = `import flow from '${file}'; console.log(JSON.stringify(flow));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program]);
    expect(JSON.parse(stdout)).toEqual(compiled);
  });

  test('writes names and values as the languages of expressions and templates need them', () => {
    verifies('sdk.flows');
    const order = inputs({ type: 'object', properties: { 'first name': { type: 'string' }, goal: {}, in: {} } });
    const reader = agent({
      _id: 'reader-1',
      title: 'Reader',
      prompt: { template: liquid`${order['first name']} ${order.goal}` },
    });
    const add = step({
      _id: 'add',
      type: 'set',
      values: {
        a: cel`${order.in} + ${cel`1 + 2`} * ${-3}`,
        b: cel`${reader.output} == ${'a "b"'}`,
        c: cel`${{ d: [1] }}.d`,
      },
    });
    expect(defineAgentflow({ name: 'Odd names', nodes: [reader, add] })).toEqual({
      name: 'Odd names',
      initialAgent: 'reader-1',
      agents: [
        { _id: 'reader-1', title: 'Reader', prompt: { template: '{{ inputs["first name"] }} {{ inputs.goal }}' } },
      ],
      steps: [
        {
          _id: 'add',
          type: 'set',
          values: { a: 'inputs["in"] + (1 + 2) * -3', b: 'outputs["reader-1"] == "a \\"b\\""', c: '{"d":[1]}.d' },
        },
      ],
    });
  });

  test('refuses fields that do not exist also where no compiler runs', () => {
    verifies('sdk.flows');
    const reader = agent({
      ...{ _id: 'reader', title: 'Reader' },
      output_schema: { type: 'object', properties: { net: { type: 'number' } } },
    });
    const untyped = reader.output as unknown as Record<string, Record<string, unknown>>;
    expect(() => untyped.nett).toThrow('outputs.reader has no field "nett"; its schema has net');
    expect(() => untyped.net?.value).toThrow('outputs.reader.net is of the type number, so it has no field "value"');
    expect(() => String(reader.output as unknown)).toThrow('a reference has no value yet');
    expect(() => liquid`${cel`1` as never}`).toThrow('a template cannot compute expressions');
  });
});

describe('an agentflow in Python', () => {
  const write = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };

  pythonTest('makes the same document', async () => {
    verifies('sdk.flows');
    const file = write('flow.py', `${invoiceInPython}\nimport json\nprint(json.dumps(flow))\n`);
    expect(JSON.parse((await python([file])).stdout)).toEqual(compiled);
  });

  pythonTest('refuses what cannot be right', async () => {
    verifies('sdk.flows');
    const refused = async (text: string) => {
      const { stderr } = await python([write('wrong.py', `${invoiceInPython}\n${text}\n`)]).catch(
        (error: unknown) => error as { stderr: string },
      );
      return stderr.trim().split('\n').at(-1);
    };
    expect(await refused('reader.output.nett')).toBe(
      "AttributeError: outputs.reader has no field 'nett'; its schema has net, tax",
    );
    expect(await refused('f"{reader.output.net}"')).toMatch(/^TypeError: a reference has no value yet/);
    expect(await refused('liquid(cel(1))')).toMatch(/^TypeError: liquid: a template cannot compute/);
    expect(await refused('cel([1])')).toMatch(/^TypeError: cel: \[1\] must be a text, a reference/);
    expect(await refused('schema_of(set)')).toMatch(/^TypeError: <class 'set'> must be a text, number/);
  });

  pythonTest(
    'has outputs whose fields the type checker knows',
    async () => {
      verifies('sdk.flows.types');
      const wrong: [string, string][] = [
        ['reader.output.nett', '"Invoice" has no attribute "nett"'],
        ['order.txt', '"Order" has no attribute "txt"'],
        ['line.prize', '"Line" has no attribute "prize"'],
        ['agent({"_id": "a", "title": "A", "nxt": "b"})', 'No overload variant of "agent"'],
        ['step({"_id": "a", "type": "sett", "values": {}})', 'No overload variant of "step"'],
      ];
      const file = write('checked.py', `${invoiceInPython}\n${wrong.map(([text]) => text).join('\n')}\n`);
      const first = invoiceInPython.split('\n').length + 1;
      const args = ['-m', 'mypy', '--no-incremental', file];
      const { stdout } = await python(args, { MYPYPATH: 'src' }, await pythonWithTools()).catch(
        (error: unknown) => error as { stdout: string },
      );
      const errors = stdout.split('\n').filter((each) => each.includes(' error: '));
      expect(errors).toEqual(
        wrong.map(([, problem], at) => expect.stringContaining(`checked.py:${first + at}: error: ${problem}`)),
      );
      // The first use installs the tools.
    },
    900_000,
  );
});
