import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { operations } from '../../sdk/node/src/operations.js';
import { packageRoot } from '../../src/base/packages.js';
import { apiClient } from '../support/client.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';
import { python } from './python.js';
import { pythonTest } from '../support/python-test.js';

interface Fields {
  required: string[];
  optional: string[];
}
interface Schema {
  properties?: Record<string, unknown>;
  required?: string[];
}

/** The document of the running service, so that the client of an older build fails. */
let document: { paths: Record<string, object>; components: { schemas: Record<string, Schema> } };
beforeAll(async () => {
  document = (await apiClient(testRun().url).get('/openapi.json')).body;
});

describe('the types of the clients', () => {
  test('in Node include every schema of the API reference with its fields', () => {
    verifies('sdk.node', 'sdk.generated');
    const { schemas, calls } = nodeTypes();
    expect(schemas).toEqual(expectedFields());
    expect(calls).toEqual(expectedOperations());
  });

  pythonTest('in Python have every schema of the API reference with its fields', async () => {
    verifies('sdk.python', 'sdk.generated');
    const { schemas, names, calls } = await pythonTypes();
    expect(schemas).toEqual(expectedFields());
    expect(calls).toEqual(expectedOperations());
    expect(names).toEqual(expect.arrayContaining(Object.keys(document.components.schemas)));
  });
});

describe('the methods of the Node client', () => {
  test('each have documentation, also of each parameter, and return types with a name', () => {
    verifies('sdk.documented');
    const file = path.join(packageRoot, 'sdk/node/src/client.ts');
    const program = ts.createProgram([file], { strict: true, types: ['node'], lib: ['lib.es2023.d.ts'] });
    const checker = program.getTypeChecker();
    const source = program.getSourceFile(file) as ts.SourceFile;
    const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(source) as ts.Symbol);
    const client = checker.getDeclaredTypeOfSymbol(symbols.find(({ name }) => name === 'Client') as ts.Symbol);
    const typeOf = (type: ts.Type, name: string) => checker.getTypeOfSymbol(type.getProperty(name) as ts.Symbol);
    const platform = typeOf(client, 'platform');
    const groups = ['agentflows', 'executions', 'schedules', 'tables', 'files'].map((name) => typeOf(platform, name));
    let seen = 0;
    for (const method of [typeOf(client, 'gateway'), ...groups].flatMap((group) => group.getProperties())) {
      const [signature] = checker.getTypeOfSymbol(method).getCallSignatures();
      const text = ts.displayPartsToString(method.getDocumentationComment(checker));
      expect([method.name, text.length > 5]).toEqual([method.name, true]);
      if (method.name === 'request') continue;
      for (const parameter of signature?.getParameters() ?? []) {
        const about = ts.displayPartsToString(parameter.getDocumentationComment(checker));
        expect([method.name, parameter.name, about.length > 5]).toEqual([method.name, parameter.name, true]);
      }
      const answer = checker.typeToString((signature as ts.Signature).getReturnType());
      expect([method.name, answer]).toEqual([method.name, expect.not.stringContaining('{')]);
      seen += 1;
    }
    expect(seen).toBeGreaterThan(50);
  });
});

describe('the methods of the Python client', () => {
  pythonTest('take every field of the tool that they call', async () => {
    verifies('sdk.python');
    const program = String.raw`
import inspect, json
from governed_context_service import Gateway
names = {name: list(inspect.signature(method).parameters) for name, method in vars(Gateway).items() if callable(method)}
print(json.dumps(names))`;
    const methods = JSON.parse((await python(['-c', program])).stdout) as Record<string, string[]>;
    const tools = Object.entries<any>(document.paths).flatMap(([at, { post }]) => {
      const { $ref = '' } = post?.requestBody?.content['application/json']?.schema ?? {};
      const fields = Object.keys(document.components.schemas[$ref.split('/').at(-1)]?.properties ?? {});
      const method = at === '/v1/catalog/ingest' ? 'ingest_catalog' : at.replace('/v1/', '').replaceAll('-', '_');
      return fields.includes('dry_run') && methods[method] ? [{ method, fields }] : [];
    });
    expect(tools.length).toBeGreaterThan(10);
    for (const { method, fields } of tools) {
      if (method === 'save_skill') continue; // takes the skill as a whole
      const missing = fields.filter((field) => field !== 'dry_run' && !methods[method]?.includes(field));
      expect([method, missing]).toEqual([method, []]);
    }
  });
});

describe('the operations that the clients know', () => {
  test('in Node equal those of the API reference', () => {
    verifies('sdk.node', 'sdk.generated');
    expect(Object.keys(operations).sort()).toEqual(expectedOperations());
  });

  pythonTest('in Python are the same, and called the same', async () => {
    verifies('sdk.python', 'sdk.generated');
    expect((await pythonTypes()).operations).toEqual(operations);
  });
});

function expectedOperations(): string[] {
  const names = Object.entries(document.paths).flatMap(([at, item]) =>
    Object.keys(item).map((method) => `${method} ${at}`),
  );
  expect(names.length).toBeGreaterThan(100);
  return names.sort();
}

function expectedFields(): Record<string, Fields> {
  const objects = Object.entries(document.components.schemas).filter(([, { properties }]) => properties !== undefined);
  expect(objects.length).toBeGreaterThan(100);
  return Object.fromEntries(
    objects.map(([name, { properties = {}, required = [] }]) => [
      name,
      {
        required: [...required].sort(),
        optional: Object.keys(properties)
          .filter((field) => !required.includes(field))
          .sort(),
      },
    ]),
  );
}

/** The generated types as the compiler sees them. */
function nodeTypes(): { schemas: Record<string, Fields>; calls: string[] } {
  const file = path.join(packageRoot, 'sdk/node/src/openapi.ts');
  const program = ts.createProgram([file], { strict: true, types: [], lib: ['lib.es5.d.ts'] });
  const checker = program.getTypeChecker();
  const symbol = checker.getSymbolAtLocation(program.getSourceFile(file) as ts.SourceFile) as ts.Symbol;
  const exported = Object.fromEntries(checker.getExportsOfModule(symbol).map((each) => [each.name, each]));
  const typeOf = (name: string) => checker.getDeclaredTypeOfSymbol(exported[name] as ts.Symbol);
  const inner = (type: ts.Type, name: string) => checker.getTypeOfSymbol(type.getProperty(name) as ts.Symbol);

  const schemas = inner(typeOf('components'), 'schemas');
  const named = schemas.getProperties().filter(({ name }) => document.components.schemas[name]?.properties);
  const paths = typeOf('paths');
  const calls = paths.getProperties().flatMap(({ name: at }) =>
    inner(paths, at)
      .getProperties()
      .filter((method) => checker.getTypeOfSymbol(method).getProperty('responses'))
      .map(({ name }) => `${name} ${at}`),
  );
  return {
    schemas: Object.fromEntries(named.map(({ name }) => [name, fieldsOf(inner(schemas, name))])),
    calls: calls.sort(),
  };
}

function fieldsOf(type: ts.Type): Fields {
  const isOptional = ({ flags }: ts.Symbol) => (flags & ts.SymbolFlags.Optional) !== 0;
  const names = (symbols: ts.Symbol[]) => symbols.map(({ name }) => name).sort();
  return {
    required: names(type.getProperties().filter((each) => !isOptional(each))),
    optional: names(type.getProperties().filter(isOptional)),
  };
}

interface PythonTypes {
  schemas: Record<string, Fields>;
  names: string[];
  calls: string[];
  operations: object;
}

async function pythonTypes(): Promise<PythonTypes> {
  const wanted = Object.entries(document.components.schemas).filter(([, { properties }]) => properties);
  const program = String.raw`
import inspect, json, re
from governed_context_service import types
from governed_context_service._sync import calls as _calls
from governed_context_service._operations import OPERATIONS
fields = lambda type: {"required": sorted(type.__required_keys__), "optional": sorted(type.__optional_keys__)}
schemas = {name: fields(getattr(types, name)) for name in json.loads(${JSON.stringify(JSON.stringify(wanted.map(([name]) => name)))}) if hasattr(types, name)}
calls = sorted(" ".join(each) for each in re.findall(r'method: Literal\["(\w+)"\], path: Literal\["(.+?)"\]', inspect.getsource(_calls)))
print(json.dumps({"schemas": schemas, "names": dir(types), "calls": calls, "operations": OPERATIONS}))`;
  return JSON.parse((await python(['-c', program])).stdout) as PythonTypes;
}
