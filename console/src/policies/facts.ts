import { capitalized, inWords } from '../api.js';
import type { Option } from '../field.js';
import { roleName, roles } from '../roles.js';
import { useMembers } from '../use-names.js';
import { useOperations } from './operations.js';

export type FactType = 'String' | 'Long' | 'Boolean' | 'Set' | 'Decimal';

/** What a condition can compare. */
export interface Fact {
  /** In Cedar, such as `context.input.host`. */
  path: string;
  name: string;
  type: FactType;
  /** The known values; undefined for any value. */
  choices?: readonly Option[];
}

const channels: readonly Option[] = [
  { value: 'rest', name: 'REST' },
  { value: 'mcp', name: 'MCP' },
  { value: 'console', name: 'The console' },
  { value: 'schedule', name: 'A schedule' },
  { value: 'agent', name: 'An agent' },
  { value: 'callback', name: 'A callback' },
];

const callers: readonly Option[] = [
  { value: 'user_jwt', name: 'A signed-in person' },
  { value: 'session', name: 'A session of a client' },
  { value: 'api_key', name: 'An API key' },
  { value: 'execution', name: 'A run' },
  { value: 'service', name: 'The service itself' },
];

const general: readonly Fact[] = [
  { path: 'context.channel', name: 'The way in', type: 'String', choices: channels },
  { path: 'context.hour', name: 'Hour (UTC)', type: 'Long' },
  { path: 'context.weekday', name: 'Weekday (1 is Monday)', type: 'Long' },
  {
    path: 'context.mode',
    name: 'Mode of the project',
    type: 'String',
    choices: [{ value: 'simple' }, { value: 'governed' }],
  },
  { path: 'context.dry_run', name: 'Dry run', type: 'Boolean' },
];

const ofInput = 'context.input.';

/** Returns the facts about who calls, and those about a call of any of these operations. */
export function useFacts(tools: readonly string[]): { who: readonly Fact[]; call: readonly Fact[] } {
  const members = useMembers() ?? [];
  const known = useOperations() ?? [];
  const chosen = tools.map((tool) => known.find(({ name, alias }) => tool === name || tool === alias)?.facts ?? []);
  // A rule for several operations can read what all of them have.
  const common = (chosen[0] ?? []).filter(({ name, type }) =>
    chosen.every((facts) => facts.some((other) => other.name === name && other.type === type)),
  );
  return {
    who: [
      { path: 'principal.kind', name: 'Kind of caller', type: 'String', choices: callers },
      {
        path: 'principal.roles',
        name: 'Roles',
        type: 'Set',
        choices: roles.map((value) => ({ value, name: roleName(value) })),
      },
      {
        path: 'principal.user_id',
        name: 'Person',
        type: 'String',
        choices: members.map(({ user_id: value, name, email }) => ({ value, name: name || email })),
      },
      { path: 'principal.client_id', name: 'Connected app (client id)', type: 'String' },
    ],
    call: [
      ...common.map(({ name, type }) => ({ path: `${ofInput}${name}`, name: capitalized(inWords(name)), type })),
      ...general,
    ],
  };
}
