import { z } from 'zod';
import { definitionOf, differenceOf, hashOf, problemsOf } from './rules.js';
import { McpToolDefinition, type LiveTool, type McpToolDocument } from './record.js';
import type { McpAuthorizationDocument } from './record/authorizations.js';

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
      .describe('Agents can call only accepted tools. A tool that the server changed is suspended.'),
    live: McpToolDefinition.nullable().describe('What the server offers now.'),
    live_hash: z.string().nullable(),
    pinned: McpToolDefinition.nullable().describe('What a person accepted, and what agents see.'),
    pinned_hash: z.string().nullable(),
    difference: z.array(z.object({ path: z.string(), pinned: z.unknown(), live: z.unknown() })),
    problems: z.array(z.string()).describe('Why the live definition cannot be accepted.'),
    suspended: z.object({ at: z.number(), reason: z.string() }).nullable(),
    accepted_by: z.string().nullable(),
    accepted_at: z.number().nullable(),
  })
  .meta({ id: 'McpTool', example: exampleTool });
type McpTool = z.infer<typeof McpTool>;

export const McpTools = z
  .object({
    connector_id: z.string(),
    hash: z.string().describe('The SHA-256 of the live definitions, for `…/tools/accept`.'),
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
      .describe(
        '`all`, or the names. `all` accepts the tools without `problems`, and also forgets accepted tools that the server no longer offers, unless each person authorizes the server.',
      ),
    hash: Sha256.describe('The `hash` of the list that the person read.'),
  })
  .meta({ id: 'AcceptMcpTools', example: { tools: ['find_ticket'], hash } });

/** The live and the accepted tools of a connector, by name. */
export function toMcpTools(live: readonly LiveTool[], pinned: readonly McpToolDocument[]): McpTool[] {
  const problems = problemsOf(live);
  const pins = new Map(pinned.map((each) => [each.name, each]));
  const offered = new Set(live.map(({ name }) => name));
  const gone = pinned.filter(({ name }) => !offered.has(name));
  return [
    ...live.map((tool, at) => toMcpTool(definitionOf(tool), pins.get(tool.name), problems[at] ?? [])),
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

const exampleAuthorization = {
  connector_id: '0199a6f0-9d2c-7e14-8a6b-1d3c5e7f9a10',
  owner: 'person' as const,
  state: 'authorized' as const,
  reason: null,
  scope: 'tickets.read',
  authorized_by: 'user-1',
  authorized_at: 1_764_000_000,
};

/** The state of an authorization, without its tokens. */
export const McpAuthorization = z
  .object({
    connector_id: z.string(),
    owner: z.enum(['person', 'project']),
    state: z
      .enum(['none', 'authorized', 'ended'])
      .describe('`ended`: the authorization server no longer accepts it. Authorize again.'),
    reason: z.string().nullable(),
    scope: z.string().nullable(),
    authorized_by: z.string().nullable(),
    authorized_at: z.number().nullable(),
    revocation: z
      .enum(['done', 'failed', 'not_supported'])
      .optional()
      .describe(
        'After a withdrawal: whether the authorization server revoked the tokens (RFC 7009). If not, end the access there.',
      ),
  })
  .meta({ id: 'McpAuthorization', example: exampleAuthorization });

export const McpAuthorizationAddress = z
  .object({
    authorization_url: z.string().describe('The person opens it in a browser, and grants access there.'),
    scope: z
      .string()
      .nullable()
      .describe('The scopes that are requested, also those that a call needed. Null: those of the server.'),
    expires_at: z.number(),
  })
  .meta({
    id: 'McpAuthorizationAddress',
    example: {
      authorization_url: 'https://auth.example.com/authorize?client_id=x',
      scope: 'tickets.read tickets.write',
      expires_at: 1_764_000_900,
    },
  });

const AnswerText = z.string().min(1).max(8192);

export const CompleteMcpAuthorization = z
  .strictObject({
    projectID: z.string().optional(),
    state: AnswerText,
    code: AnswerText.optional(),
    iss: AnswerText.optional(),
    error: z
      .string()
      .regex(/^[\x20-\x7e]{1,100}$/, 'must be an error code')
      .optional(),
  })
  .meta({ id: 'CompleteMcpAuthorization', example: { state: 'a-state', code: 'a-code' } });

export function toMcpAuthorization(
  { connector_id, owner, server }: Pick<McpAuthorizationDocument, 'connector_id' | 'owner' | 'server'>,
  found: McpAuthorizationDocument | null,
): z.infer<typeof McpAuthorization> {
  const known = found?.server === server ? found : null;
  return {
    connector_id,
    owner,
    state: known === null ? 'none' : known.ended ? 'ended' : 'authorized',
    reason: known?.ended?.reason ?? null,
    scope: known?.scope ?? null,
    authorized_by: known?.user_id ?? null,
    authorized_at: known?.authorized_at ?? null,
  };
}
