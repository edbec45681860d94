import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { operations } from '../../sdk/node/src/operations.js';
import { packageRoot } from '../../src/package-root.js';
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
from governed_context_service import _calls, types
from governed_context_service._operations import OPERATIONS
fields = lambda type: {"required": sorted(type.__required_keys__), "optional": sorted(type.__optional_keys__)}
schemas = {name: fields(getattr(types, name)) for name in json.loads(${JSON.stringify(JSON.stringify(wanted.map(([name]) => name)))}) if hasattr(types, name)}
calls = sorted(" ".join(each) for each in re.findall(r'method: Literal\["(\w+)"\], path: Literal\["(.+?)"\]', inspect.getsource(_calls)))
print(json.dumps({"schemas": schemas, "names": dir(types), "calls": calls, "operations": OPERATIONS}))`;
  return JSON.parse((await python(['-c', program])).stdout) as PythonTypes;
}
