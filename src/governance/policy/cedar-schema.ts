import type { SchemaJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { Catalog } from '../operations/catalog.js';
import type { Fact, Facts } from '../operations/operation.js';

type Attributes = Record<
  string,
  { type: 'String' | 'Long' | 'Boolean' } | ReturnType<typeof record> | typeof strings | typeof decimal
>;

const string = { type: 'String' } as const;
const long = { type: 'Long' } as const;
const boolean = { type: 'Boolean' } as const;
const strings = { type: 'Set', element: string } as const;
const decimal = { type: 'Extension', name: 'decimal' } as const;
const typeOfFact: Record<Fact['type'], Attributes[string]> = {
  String: string,
  Long: long,
  Boolean: boolean,
  Set: strings,
  Decimal: decimal,
};

/** The entities, actions and attributes that rules can use. Cedar rejects a rule that uses anything else. */
export const cedarSchemaOf = ({ operations }: Catalog): SchemaJson<string> => ({
  '': {
    entityTypes: {
      User: {
        shape: record({
          user_id: string,
          role: string,
          roles: strings,
          kind: string,
          client_id: string,
          grants: strings,
        }),
      },
      Resource: { shape: record({ type: string, id: string }) },
    },
    actions: Object.fromEntries(
      operations.map(({ name, facts }) => [
        name,
        { appliesTo: { principalTypes: ['User'], resourceTypes: ['Resource'], context: contextWith(facts) } },
      ]),
    ),
  },
});

export function contextWith(facts: Facts) {
  const input = Object.fromEntries(Object.entries(facts).map(([name, { type }]) => [name, typeOfFact[type]]));
  return record({
    project_id: string,
    mode: string,
    channel: string,
    dry_run: boolean,
    hour: long,
    weekday: long,
    input: record(input),
  });
}

function record(attributes: Record<string, unknown>) {
  return { type: 'Record', attributes: attributes as never } as const;
}
