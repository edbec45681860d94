import { describe, expect, test } from '@jest/globals';
import { apiClient } from '../../support/client.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';

const document = (await apiClient(testRun().url).get('/openapi.json')).body;
const schemas: [string, any][] = Object.entries(document.components.schemas);
const operations: any[] = Object.values<any>(document.paths).flatMap((item) => Object.values(item));

/** What is left of a name in every language: `_id`, `id` and `Id` can become the same identifier. */
const plain = (name: string) => name.replace(/[^a-zA-Z0-9]/g, '').toLowerCase();

/** Pairs of names that a generator can map to the same identifier, if it derives these further ones from each name. */
function collisions(names: readonly string[], derive: (name: string) => string[]): string[] {
  const owners = new Map<string, string>();
  const found: string[] = [];
  for (const name of names) {
    const other = owners.get(plain(name));
    if (other !== undefined) found.push(`${other} and ${name}`);
    owners.set(plain(name), name);
  }
  for (const name of names)
    for (const derived of derive(plain(name)))
      if (owners.has(derived)) found.push(`${name} and ${owners.get(derived)}`);
  return found;
}

/** Each schema in the document, and where it is. */
function* schemasIn(node: unknown, at = ''): Generator<{ at: string; schema: any }> {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) yield { at, schema: node };
  for (const [key, value] of Object.entries(node))
    if (!['example', 'examples', 'enum', 'const', 'default'].includes(key)) yield* schemasIn(value, `${at}/${key}`);
}

describe('identifiers that generators make', () => {
  test('of components are different', () => {
    verifies('reference.generated-names');
    // Go: the functions `NewX` and `NewXWithDefaults`, and the type `NullableX`.
    const names = schemas.map(([name]) => name);
    expect(names.length).toBeGreaterThan(100);
    expect(collisions(names, (name) => [`new${name}`, `nullable${name}`, `new${name}withdefaults`])).toEqual([]);
    expect(names.filter((name) => /^(New|Nullable)[A-Z]/.test(name))).toEqual([]);
  });

  test('of the fields of a component are different', () => {
    verifies('reference.generated-names');
    const found = schemas.flatMap(([component, { properties = {} }]) => {
      // Go and Java: the methods of a field.
      const accessors = (name: string) => [
        ...['get', 'set', 'has', 'unset', 'add', 'put'].map((verb) => verb + name),
        ...[`get${name}ok`, `set${name}nil`, `add${name}item`, `put${name}item`],
      ];
      return collisions(Object.keys(properties), accessors).map((pair) => `${component}: ${pair}`);
    });
    expect(found).toEqual([]);
  });

  test('of operations and of their parameters are different', () => {
    verifies('reference.generated-names');
    const ids = operations.map(({ operationId }) => operationId as string);
    const variants = ['execute', 'call', 'async', 'raw', 'withhttpinfo', 'withresponse', 'withbody'];
    expect(collisions(ids, (id) => variants.map((variant) => id + variant))).toEqual([]);
    const found = operations.flatMap(({ operationId, parameters = [] }) =>
      collisions(
        parameters.map(({ name }: any) => name),
        () => [],
      ).map((pair) => `${operationId}: ${pair}`),
    );
    // The specification names both. All generators tell parameters of different places apart.
    expect(found).toEqual(['deleteDeleteColumnProjectID: projectID and projectId']);
  });

  test('of the values of an enumeration are different', () => {
    verifies('reference.generated-names');
    const enumerations = schemas.filter(([, schema]) => schema.enum !== undefined);
    expect(enumerations.length).toBeGreaterThan(20);
    for (const [name, schema] of enumerations)
      expect([
        name,
        collisions(
          schema.enum.filter((value: unknown) => typeof value === 'string'),
          () => [],
        ),
      ]).toEqual([name, []]);
  });
});

describe('types that generators choose', () => {
  test('for numbers hold every value that is possible', () => {
    verifies('reference.generated-names');
    const numbers = [...schemasIn(document)].filter(({ schema: { type } }) =>
      [type].flat().some((name) => name === 'integer' || name === 'number'),
    );
    expect(numbers.length).toBeGreaterThan(500);
    const wrong = numbers.filter(({ schema }) => {
      const values: unknown[] = schema.enum ?? [schema.const];
      const isOfIntegers = values.every(Number.isInteger);
      if ([schema.type].flat().includes('number')) return isOfIntegers || schema.format !== 'double';
      const { minimum = -Infinity, maximum = Infinity } = schema;
      const isSmall = isOfIntegers || (minimum >= -(2 ** 31) && maximum < 2 ** 31);
      return schema.format !== (isSmall ? undefined : 'int64');
    });
    expect(wrong.map(({ at }) => at)).toEqual([]);
  });

  test('for optional fields are no constants of true or false', () => {
    verifies('reference.generated-names');
    const wrong = schemas.flatMap(([name, { properties = {}, required = [] }]) =>
      Object.entries<any>(properties)
        .filter(([field, schema]) => typeof schema.const === 'boolean' && !required.includes(field))
        .map(([field]) => `${name}.${field}`),
    );
    expect(wrong).toEqual([]);
  });

  test('for the members of a union are no classes of dates or addresses', () => {
    verifies('reference.generated-names');
    const members = schemas.flatMap(([name, { anyOf = [], oneOf = [] }]) =>
      [...anyOf, ...oneOf].map((member) => ({ name, member })),
    );
    const wrong = members.filter(({ member }) => member.type === 'string' && member.format !== undefined);
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  test('for unions that a field tells apart are those of its members, not one type of all their fields', () => {
    verifies('reference.generated-names');
    const toldApart = schemas.filter(([, { discriminator }]) => discriminator !== undefined);
    expect(toldApart.length).toBeGreaterThan(1);
    expect(toldApart.filter(([, { oneOf }]) => oneOf === undefined).map(([name]) => name)).toEqual([]);
  });
});
