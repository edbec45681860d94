import { z } from 'zod';
import { differenceOf, hashOf, problemsOf } from './rules.js';
import { McpToolDefinition, type McpToolDocument } from './record.js';

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex');

const exampleDefinition = {
  name: 'find_ticket',
  description: 'Finds a ticket by its number.',
  inputSchema: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
};
const hash = '2b9a4c51a3f0e6d7c8b59a4e3d2c1f0b9a8e7d6c5b4a39281706f5e4d3c2b1a0';

const exampleTool = {
  name: 'find_ticket',
  state: 'new' as const,
  live: exampleDefinition,
  live_hash: hash,
  pinned: null,
  pinned_hash: null,
  difference: [],
  problems: [],
  suspended: null,
  accepted_by: null,
  accepted_at: null,
};

const McpTool = z
  .object({
    name: z.string(),
    state: z
      .enum(['new', 'accepted', 'suspended'])
      .meta({ description: 'Agents can call only accepted tools. A tool that the server changed is suspended.' }),
    live: McpToolDefinition.nullable().meta({ description: 'What the server offers now.' }),
    live_hash: z.string().nullable(),
    pinned: McpToolDefinition.nullable().meta({ description: 'What a person accepted, and what agents see.' }),
    pinned_hash: z.string().nullable(),
    difference: z.array(z.object({ path: z.string(), pinned: z.unknown(), live: z.unknown() })),
    problems: z.array(z.string()).meta({ description: 'Why the live definition cannot be accepted.' }),
    suspended: z.object({ at: z.number(), reason: z.string() }).nullable(),
    accepted_by: z.string().nullable(),
    accepted_at: z.number().nullable(),
  })
  .meta({ id: 'McpTool', example: exampleTool });
type McpTool = z.infer<typeof McpTool>;

export const McpTools = z
  .object({
    connector_id: z.string(),
    hash: z.string().meta({ description: 'The SHA-256 of the live definitions, for `…/tools/accept`.' }),
    tools: z.array(McpTool),
  })
  .meta({
    id: 'McpTools',
    example: { connector_id: '0199a6f0-9d2c-7e14-8a6b-1d3c5e7f9a10', hash, tools: [exampleTool] },
  });

export const AcceptMcpTools = z
  .strictObject({
    projectID: z.string().optional(),
    tools: z
      .union([z.literal('all'), z.array(z.string().max(200)).min(1).max(1000)])
      .meta({
        description: '`all`, or the names. `all` also forgets accepted tools that the server no longer offers.',
      }),
    hash: Sha256.meta({ description: 'The `hash` of the list that the person read.' }),
  })
  .meta({ id: 'AcceptMcpTools', example: { tools: ['find_ticket'], hash } });

/** The live and the accepted tools of a connector, by name. */
export function toMcpTools(live: readonly McpToolDefinition[], pinned: readonly McpToolDocument[]): McpTool[] {
  const problems = problemsOf(live);
  const pins = new Map(pinned.map((each) => [each.name, each]));
  const offered = new Set(live.map(({ name }) => name));
  const gone = pinned.filter(({ name }) => !offered.has(name));
  return [
    ...live.map((definition, at) => toMcpTool(definition, pins.get(definition.name), problems[at] ?? [])),
    ...gone.map((pin) => toMcpTool(null, pin, [])),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function toMcpTool(live: McpToolDefinition | null, pin: McpToolDocument | undefined, problems: string[]): McpTool {
  const pinned = pin ? (JSON.parse(pin.definition) as McpToolDefinition) : null;
  return {
    name: live?.name ?? pin?.name ?? '',
    state: pin === undefined ? 'new' : pin.suspended ? 'suspended' : 'accepted',
    live,
    live_hash: live && hashOf(live),
    pinned,
    pinned_hash: pin?.hash ?? null,
    difference: live && pinned ? differenceOf(pinned, live) : [],
    problems,
    suspended: pin?.suspended ?? null,
    accepted_by: pin?.accepted_by ?? null,
    accepted_at: pin?.accepted_at ?? null,
  };
}
