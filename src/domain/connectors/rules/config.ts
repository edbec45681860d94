import { isJsonObject } from '../../../base/json.js';
import { z } from 'zod';

import { parseWithProblems } from '../../../base/validation.js';
import type { ConnectorCategory } from '../record.js';

const Secret = z.string().min(1).max(8192);
const HeaderName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'is not a valid header name');
const HeaderValue = z
  .string()
  .max(8192)
  .regex(/^[\x20-\x7e\t]*$/, 'is not a valid header value');
const HttpUrl = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .refine((url) => !/^[a-z]+:\/\/[^/]*@/i.test(url), 'must not contain credentials');
const framingHeaders: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'keep-alive',
]);
export const CustomHeader = HeaderName.refine(
  (name) => !framingHeaders.has(name.toLowerCase()),
  'must not be set',
).meta({ example: 'x-api-key' });

/** Parameters that the product sends itself. */
const ownParameters: ReadonlySet<string> = new Set(['grant_type', 'scope', 'client_id', 'client_secret']);
/** Further parameters of a token request, such as `audience` and `resource` (RFC 8707). A list repeats its name. */
const TokenParameters = z
  .record(
    z
      .string()
      .min(1)
      .max(100)
      .refine((name) => !ownParameters.has(name), 'has a field of its own'),
    z.union([z.string().max(2000), z.array(z.string().max(2000)).max(20)]),
  )
  .refine((parameters) => Object.keys(parameters).length <= 20, 'must have at most 20 parameters');

const NoAuth = z.strictObject({ type: z.literal('none') });
const HeaderAuth = z.strictObject({ type: z.literal('header'), name: CustomHeader, value: HeaderValue });
const Auth = z.discriminatedUnion('type', [
  NoAuth,
  HeaderAuth,
  z.strictObject({ type: z.literal('bearer'), token: HeaderValue.min(1) }),
  z.strictObject({ type: z.literal('basic'), username: z.string().max(1000), password: Secret }),
  z.strictObject({
    type: z.literal('client_credentials'),
    token_url: HttpUrl,
    client_id: z.string().min(1).max(1000),
    client_secret: Secret,
    scope: z.string().max(2000).optional(),
    parameters: TokenParameters.optional(),
    /** How the client authenticates to the token endpoint (RFC 6749, 2.3.1). */
    send_as: z.enum(['basic', 'body']).default('basic'),
  }),
]);
export type Auth = z.infer<typeof Auth>;
export type ClientCredentials = Extract<Auth, { type: 'client_credentials' }>;

/** After a person has authorized the product, it gets tokens from the authorization server of the MCP server. */
const OauthAuth = z.strictObject({
  type: z.literal('oauth'),
  owner: z
    .enum(['person', 'project'])
    .default('person')
    .describe('`person`: each person authorizes, and runs use the token of the person they act for.'),
  scope: z
    .string()
    .max(2000)
    .regex(/^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/, 'must be scopes, separated by one space')
    .optional()
    .describe('Default: the scopes that the MCP server requests.'),
  client_id: z
    .string()
    .regex(/^[\x20-\x7e]{1,1000}$/, 'must be 1 to 1000 printable ASCII characters')
    .optional()
    .describe(
      'A client that is registered at the authorization server already. It is used before any other way to register.',
    ),
  client_secret: z
    .string()
    .regex(/^[\x20-\x7e]{1,8192}$/, 'must be 1 to 8192 printable ASCII characters')
    .optional(),
  send_as: z
    .enum(['basic', 'body'])
    .optional()
    .describe('How the secret is sent. Default: a way that the authorization server supports.'),
  issuer: HttpUrl.optional().describe(
    'The only authorization server that receives the client. Default: the one of the first authorization.',
  ),
});
export type OauthAuth = z.infer<typeof OauthAuth>;

/** An HTTP API: its base URL, and the credentials and headers that are sent to this API only. */
export const RestfulConfig = z.looseObject({
  base_url: HttpUrl.regex(/^[^?#]*$/, 'must not contain a query or fragment').optional(),
  auth: Auth.default({ type: 'none' }),
  headers: z.record(CustomHeader, HeaderValue).default({}),
  timeout_ms: z.int().min(1).max(100_000).default(100_000),
});
export type RestfulConfig = z.infer<typeof RestfulConfig>;

export const mcpConfigFields = {
  url: HttpUrl.regex(/^[^#]*$/, 'must not contain a fragment').optional(),
  command: z.string().min(1).max(100).optional().describe('A name in `MCP_STDIO_COMMANDS` of the workers.'),
  auth: z.discriminatedUnion('type', [NoAuth, HeaderAuth, OauthAuth]).default({ type: 'none' }),
};
/** A process gets no credentials. */
export function checkMcp(
  {
    url,
    command,
    auth,
  }: { url?: unknown; command?: unknown; auth: { type: string; client_id?: unknown; client_secret?: unknown } },
  context: z.RefinementCtx,
): void {
  const add = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
  if ((url === undefined) === (command === undefined)) add('url', 'give either url or command');
  if (command !== undefined && auth.type !== 'none') add('auth', 'must be none for a command');
  if (auth.client_secret !== undefined && auth.client_id === undefined && auth.type === 'oauth')
    context.addIssue({ code: 'custom', path: ['auth', 'client_id'], message: 'is required with client_secret' });
}

/** An MCP server: its URL with an optional header or OAuth, or the name of a command that the workers allow (`MCP_STDIO_COMMANDS`). */
export const McpConfig = z.looseObject(mcpConfigFields).superRefine(checkMcp);

/** The account provider's API, used to verify accounts and to perform actions. */
const accountFields = {
  account_api_url: HttpUrl.regex(/^[^?#]*$/, 'must not contain a query or fragment').optional(),
  account_api_token: HeaderValue.min(1).optional(),
};
export const AccountConfig = z.looseObject(accountFields);

export const MailConfig = z.looseObject({
  ...accountFields,
  host: z
    .string()
    .regex(/^[A-Za-z0-9._:[\]-]{1,253}$/, 'is not a valid host')
    .optional(),
  port: z.int().min(1).max(65_535).optional(),
  secure: z.boolean().default(false),
  /** Defaults to true if there is a password, so that it is never sent unencrypted. */
  require_tls: z.boolean().optional(),
  user: z.string().max(1000).optional(),
  password: Secret.optional(),
  from: z
    .string()
    .max(500)
    .regex(/^[^\r\n]*$/)
    .optional(),
});
export type MailConfig = z.infer<typeof MailConfig>;

/** The known fields of `config` by category. Other fields are encrypted and stored, but not used. */
const configSchemas = {
  restful: RestfulConfig,
  mail: MailConfig,
  messaging: AccountConfig,
  professional_network: AccountConfig,
  content_creator: AccountConfig,
  mcp: McpConfig,
} as const satisfies Record<ConnectorCategory, z.ZodType>;

/** The problems of a configuration. They name fields, but never values, which may be secrets. */
export function configProblems(category: ConnectorCategory, config: unknown): string[] {
  const parsed = parseWithProblems(z.object({ config: configSchemas[category] }), { config });
  return 'problems' in parsed ? parsed.problems : [];
}

/** Replaces a secret in responses; in a change, it keeps the stored value. */
export const storedPlaceholder = '[stored]';

const publicFields: ReadonlySet<string> = new Set([
  'base_url',
  'url',
  'command',
  'timeout_ms',
  'account_api_url',
  'host',
  'port',
  'secure',
  'require_tls',
  'user',
  'from',
]);
const publicAuthFields: ReadonlySet<string> = new Set([
  'type',
  'name',
  'username',
  'token_url',
  'client_id',
  'scope',
  'owner',
  'send_as',
  'issuer',
]);
const noFields: ReadonlySet<string> = new Set();

/** The configuration with its secrets replaced, along with all header values and all unknown fields. */
export function toPublicConfig(config: Record<string, unknown>): Record<string, unknown> {
  const result = maskFields(config, publicFields);
  if (isJsonObject(config.auth)) result.auth = maskFields(config.auth, publicAuthFields);
  if (isJsonObject(config.headers)) result.headers = maskFields(config.headers, noFields);
  return result;
}

function maskFields(fields: Record<string, unknown>, open: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, open.has(name) ? value : storedPlaceholder]),
  );
}

/** Applies a change: null removes a field, the placeholder keeps the stored value, and omitted fields are kept. */
export function changedConfig(
  stored: Record<string, unknown>,
  change: Record<string, unknown>,
): Record<string, unknown> {
  const changedFields = Object.entries(change).map(
    ([name, value]) => [name, withStoredSecrets(value, stored[name])] as const,
  );
  return Object.fromEntries(
    Object.entries({ ...stored, ...Object.fromEntries(changedFields) }).filter(([, value]) => value !== null),
  );
}

function withStoredSecrets(value: unknown, stored: unknown): unknown {
  if (value === storedPlaceholder) return stored ?? null;
  if (!isJsonObject(value)) return value;
  const known = isJsonObject(stored) ? stored : {};
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withStoredSecrets(member, known[name])]),
  );
}

/**
 * Returns the secrets that a change keeps although it sends them to another server. A person who may change a connector
 * cannot read its secrets, and must not receive them in this way.
 */
export function secretsForAnotherServer(stored: Record<string, unknown>, changed: Record<string, unknown>): string[] {
  if (serversOf(stored) === serversOf(changed)) return [];
  const before = secretsOf(stored);
  return Object.entries(secretsOf(changed)).flatMap(([name, value]) => (value === before[name] ? [name] : []));
}

function serversOf({ auth, host, port, ...config }: Record<string, unknown>): string {
  const { token_url, issuer }: Record<string, unknown> = isJsonObject(auth) ? auth : {};
  const urls = [config.base_url, config.url, config.account_api_url, token_url, issuer];
  return JSON.stringify([
    ...urls.map((url) => (typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : url)),
    host,
    port,
  ]);
}

function secretsOf({ auth, headers, account_api_token, password }: Record<string, unknown>): Record<string, unknown> {
  const hiddenIn = (name: string, fields: unknown, open: ReadonlySet<string>) =>
    Object.entries(isJsonObject(fields) ? fields : {})
      .filter(([field]) => !open.has(field))
      .map(([field, value]) => [`${name}.${field}`, value] as const);
  return {
    ...(account_api_token !== undefined && { account_api_token }),
    ...(password !== undefined && { password }),
    ...Object.fromEntries([...hiddenIn('auth', auth, publicAuthFields), ...hiddenIn('headers', headers, noFields)]),
  };
}

/** Whether the configuration is sufficient to perform actions. Otherwise a user must connect an account or set the status. */
export function isComplete(category: ConnectorCategory, config: Record<string, unknown>): boolean {
  if (category === 'restful' || category === 'mcp') return true;
  if (category === 'mail') return config.host !== undefined && config.from !== undefined;
  return category === 'content_creator' && config.account_api_url !== undefined;
}
