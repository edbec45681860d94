import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { packageRoot } from '../../../src/base/packages.js';
import { apiClient } from '../../support/client.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';

const document = (await apiClient(testRun().url).get('/openapi.json')).body;
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).addSchema({
  $id: 'document',
  ...document,
});
const operations = Object.entries<any>(document.paths).flatMap(([at, item]) =>
  Object.entries<any>(item).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${at}`,
    pointer: ['paths', at, method],
    operation,
  })),
);

/** The errors of a value by the schema at that position of the document. */
function problems(pointer: readonly (string | number)[], value: unknown): string[] {
  const escaped = pointer.map((part) => encodeURIComponent(String(part).replace(/~/g, '~0').replace(/\//g, '~1')));
  const validate = ajv.compile({ $ref: `document#/${escaped.join('/')}` });
  return validate(value)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

function* contents({ pointer, operation }: (typeof operations)[number]): Generator<{ pointer: string[]; media: any }> {
  for (const [type, media] of Object.entries<any>(operation.requestBody?.content ?? {}))
    yield { pointer: [...pointer, 'requestBody', 'content', type], media };
  for (const [status, response] of Object.entries<any>(operation.responses)) {
    for (const [type, media] of Object.entries<any>(response.content ?? {}))
      yield { pointer: [...pointer, 'responses', status, 'content', type], media };
  }
}

function examplesOf(media: any): unknown[] {
  if (media.examples === undefined) return [media.example];
  return Object.values<any>(media.examples).map(
    ({ $ref }) => document.components.examples[$ref.split('/').at(-1)].value,
  );
}

describe('examples of the API reference', () => {
  test.each(operations.map((operation) => [operation.name, operation] as const))(
    '%s has them for its body, answers and refusals, each matching its schema',
    (_name, operation) => {
      verifies('reference.examples');
      let checked = 0;
      for (const { pointer, media } of contents(operation)) {
        for (const example of examplesOf(media)) {
          expect({ pointer, example, problems: problems([...pointer, 'schema'], example ?? null) }).toMatchObject({
            example: expect.anything(),
            problems: [],
          });
          checked += 1;
        }
      }
      expect(checked).toBeGreaterThan(0);
      for (const [at, parameter] of (operation.operation.parameters ?? []).entries()) {
        if (parameter.required)
          expect([
            parameter.name,
            problems([...operation.pointer, 'parameters', at, 'schema'], parameter.example ?? null),
          ]).toEqual([parameter.name, []]);
      }
    },
  );

  test('of components match their own schemas', () => {
    verifies('reference.examples');
    const own = Object.entries<any>(document.components.schemas).filter(([, { example }]) => example !== undefined);
    expect(own.length).toBeGreaterThan(50);
    for (const [name, { example }] of own)
      expect([name, problems(['components', 'schemas', name], example)]).toEqual([name, []]);
  });

  test('are realistic values instead of type names', () => {
    verifies('reference.examples');
    const unreal = operations.filter((operation) => {
      const examples = [...contents(operation)].map(({ media }) => media.example);
      return /"(?!\w*type")\w+":\[?"(string|foo|bar|lorem)/i.test(JSON.stringify(examples));
    });
    expect(unreal.map(({ name }) => name)).toEqual([]);
  });
});

describe('refusals in the API reference', () => {
  test.each(operations.map(({ name, operation }) => [name, operation] as const))(
    '%s lists the refusals of its kind',
    (_name, operation) => {
      verifies('reference.examples');
      const statuses = Object.keys(operation.responses);
      const needed = [
        '400',
        '500',
        '503',
        ...(operation.security.length > 0 ? ['401', '403'] : []),
        ...(operation.requestBody ? ['413'] : []),
        ...(operation.tags.includes('tools') ? ['404', '409', '422', '429', '502', '504'] : []),
      ];
      expect(statuses).toEqual(expect.arrayContaining(needed));
      for (const { description } of Object.values<any>(operation.responses))
        expect(description.length).toBeGreaterThan(8);
    },
  );
});

describe('groups of the API reference', () => {
  test('are described, and every operation is in one', () => {
    verifies('reference.linted');
    const described = document.tags.map(({ name, description }: any) => [name, description.length > 10]);
    expect(new Map(described)).toEqual(new Map(operations.map(({ operation }) => [operation.tags[0], true])));
  });
});

describe('a validator of the OpenAPI schema', () => {
  test('accepts the document', async () => {
    verifies('reference.linted');
    const { Validator } = await import('@seriousme/openapi-schema-validator');
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  });

  test('and parameters that a route requires say so', () => {
    verifies('reference.linted');
    for (const { name, operation } of operations)
      for (const parameter of operation.parameters ?? [])
        expect([name, parameter]).toMatchObject([
          name,
          { description: expect.any(String), ...(parameter.in === 'path' && { required: true }) },
        ]);
    const { parameters } = document.paths['/schedule/coworker/{id}/times'].get;
    expect(parameters.filter(({ required }: any) => required).map(({ name }: any) => name)).toEqual([
      'id',
      'from',
      'to',
    ]);
  });
});

describe('the schemas of the API reference', () => {
  const schemas = Object.entries<any>(document.components.schemas);
  /** Each schema below one, with whether it is a component. */
  function* below(schema: any, isComponent: boolean): Generator<{ schema: any; isComponent: boolean }> {
    yield { schema, isComponent };
    const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [] } = schema;
    const inner = [...Object.values(properties), items, additionalProperties, ...anyOf, ...oneOf];
    for (const each of inner) if (typeof each === 'object') yield* below(each, false);
  }
  const isNull = ({ type }: any) => type === 'null';

  test('are components if they are objects, enumerations or unions', () => {
    verifies('reference.names');
    const parameters = operations.flatMap(({ operation }) => operation.parameters ?? []);
    const media = operations.flatMap((each) => [...contents(each)].map((content) => content.media));
    const places = [...parameters, ...media].map(({ schema }) => [schema, false] as const);
    const all = [...places, ...schemas.map(([, schema]) => [schema, true] as const)];
    const nameless = all
      .flatMap(([schema, isComponent]) => [...below(schema, isComponent)])
      .filter(({ isComponent }) => !isComponent)
      .filter(({ schema: { properties, enum: values = [], anyOf = [], oneOf = [] } }) => {
        const members = [...anyOf, ...oneOf].filter((member) => !isNull(member));
        return properties !== undefined || values.length > 1 || members.length > 1;
      });
    expect(nameless).toEqual([]);
    const names = schemas.map(([name]) => name.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
  });

  test('have no map in a union, which generators cannot name', () => {
    verifies('reference.names');
    for (const [name, { anyOf = [], oneOf = [] }] of schemas)
      for (const { $ref, ...member } of [...anyOf, ...oneOf]) {
        const target = $ref ? document.components.schemas[$ref.split('/').at(-1)] : member;
        const isMap = target.additionalProperties !== undefined && target.properties === undefined;
        expect([name, isMap]).toEqual([name, false]);
      }
  });

  test('tell the data of an event by its type', () => {
    verifies('sdk.typed-events');
    const { oneOf, discriminator } = document.components.schemas.ExecutionEvent;
    expect(discriminator.propertyName).toBe('type');
    expect(Object.values(discriminator.mapping)).toEqual(oneOf.map(({ $ref }: any) => $ref));
    expect(Object.keys(discriminator.mapping)).toEqual(expect.arrayContaining(['started', 'step_failed', 'completed']));
  });
});

describe('a public linter', () => {
  test('reports no problem in the document, including warnings', async () => {
    verifies('reference.linted');
    const folder = await mkdtemp(path.join(tmpdir(), 'reference-'));
    const file = path.join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(document));
    const redocly = path.join(packageRoot, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js');
    const flags = ['--config', path.join(packageRoot, 'redocly.yaml'), '--format', 'json', '--max-problems', '50'];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NODE_OPTIONS: '' };
    const { stdout } = await promisify(execFile)(process.execPath, [redocly, 'lint', file, ...flags], {
      env,
      maxBuffer: 32 * 1024 * 1024,
    }).catch((failed: { stdout?: string }) => {
      if (failed.stdout) return { stdout: failed.stdout };
      throw failed;
    });
    const { problems: found, totals } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
      problems: { ruleId: string; message: string }[];
      totals: object;
    };
    expect(found.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
    expect(totals).toMatchObject({ errors: 0, warnings: 0 });
    await rm(folder, { recursive: true });
  });
});
