import type { SchemaJson } from '@cedar-policy/cedar-wasm/nodejs';
import { governedTools, type Fact } from './governed-tools.js';

type Attributes = Record<string, { type: 'String' | 'Long' | 'Boolean' } | ReturnType<typeof record> | typeof texts>;

const text = { type: 'String' } as const;
const whole = { type: 'Long' } as const;
const yes = { type: 'Boolean' } as const;
const texts = { type: 'Set', element: text } as const;
const typeOfFact: Record<Fact['type'], Attributes[string]> = { String: text, Long: whole, Boolean: yes, Set: texts };

/** What rules can be written about; Cedar refuses at once a rule that asks for anything else. */
export const cedarSchema: SchemaJson<string> = {
  '': {
    entityTypes: {
      User: { shape: record({ user_id: text, role: text, kind: text, grants: texts }) },
      Resource: { shape: record({ type: text, id: text }) },
    },
    actions: Object.fromEntries(
      Object.entries(governedTools).map(([tool, facts]) => [
        tool,
        { appliesTo: { principalTypes: ['User'], resourceTypes: ['Resource'], context: contextWith(facts) } },
      ]),
    ),
  },
};

function contextWith(facts: Readonly<Record<string, Fact>>) {
  const input = Object.fromEntries(Object.entries(facts).map(([name, { type }]) => [name, typeOfFact[type]]));
  return record({ project_id: text, mode: text, dry_run: yes, hour: whole, weekday: whole, input: record(input) });
}

function record(attributes: Record<string, unknown>) {
  return { type: 'Record', attributes: attributes as never } as const;
}
