import { z } from 'zod';
import type { ConnectorCategory } from './connector.js';

const Secret = z.string().min(1).max(8192);
const HeaderName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'is no header name');
const HeaderValue = z.string().max(8192).regex(/^[\x20-\x7e\t]*$/, 'is no header value');
const HttpUrl = z.url({ protocol: /^https?$/ }).max(2000).refine((url) => !/^[a-z]+:\/\/[^/]*@/i.test(url), 'must not carry credentials');
const framing: ReadonlySet<string> = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'expect', 'te', 'trailer', 'keep-alive']);
const OwnHeader = HeaderName.refine((name) => !framing.has(name.toLowerCase()), 'is not for setting');

const Auth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({ type: z.literal('header'), name: OwnHeader, value: HeaderValue }),
  z.strictObject({ type: z.literal('bearer'), token: HeaderValue.min(1) }),
  z.strictObject({ type: z.literal('basic'), username: z.string().max(1000), password: Secret }),
  z.strictObject({
    type: z.literal('client_credentials'),
    token_url: HttpUrl,
    client_id: z.string().min(1).max(1000),
    client_secret: Secret,
    scope: z.string().max(2000).optional(),
    /** How the token endpoint is shown the secret (RFC 6749, 2.3.1). */
    send_as: z.enum(['basic', 'body']).default('basic'),
  }),
]);
export type Auth = z.infer<typeof Auth>;
export type ClientCredentials = Extract<Auth, { type: 'client_credentials' }>;

/** An HTTP API: its base URL, and what is sent to it and nowhere else. */
export const RestfulConfig = z.looseObject({
  base_url: HttpUrl.regex(/^[^?#]*$/, 'must have no query').optional(),
  auth: Auth.default({ type: 'none' }),
  headers: z.record(OwnHeader, HeaderValue).default({}),
  timeout_ms: z.int().min(1).max(100_000).default(100_000),
});
export type RestfulConfig = z.infer<typeof RestfulConfig>;

/** What every category takes of the account provider's API: where a reported account is fetched anew, and actions are done. */
const accountFields = { account_api_url: HttpUrl.regex(/^[^?#]*$/, 'must have no query').optional(), account_api_token: HeaderValue.min(1).optional() };
export const AccountConfig = z.looseObject(accountFields);
export type AccountConfig = z.infer<typeof AccountConfig>;

export const MailConfig = z.looseObject({
  ...accountFields,
  host: z.string().regex(/^[A-Za-z0-9._:[\]-]{1,253}$/, 'is no host').optional(),
  port: z.int().min(1).max(65_535).optional(),
  secure: z.boolean().default(false),
  /** By default with a password: it never goes over an open connection. */
  require_tls: z.boolean().optional(),
  user: z.string().max(1000).optional(),
  password: Secret.optional(),
  from: z.string().max(500).regex(/^[^\r\n]*$/).optional(),
});
export type MailConfig = z.infer<typeof MailConfig>;

/** What `config` may hold by category; other fields are kept, sealed, and not looked at. */
const configs = {
  restful: RestfulConfig,
  mail: MailConfig,
  messaging: AccountConfig,
  professional_network: AccountConfig,
  content_creator: AccountConfig,
} as const satisfies Record<ConnectorCategory, z.ZodType>;

/** What is wrong with a configuration, each problem naming its field and never its value. */
export function configProblems(category: ConnectorCategory, config: unknown): string[] {
  const parsed = configs[category].safeParse(config);
  return (parsed.error?.issues ?? []).map(({ path, message }) => `${['config', ...path].join('.')}: ${message}`);
}

/** Whether actions can be done with it as it stands; otherwise somebody connects an account or activates it by hand. */
export function isComplete(category: ConnectorCategory, config: Record<string, unknown>): boolean {
  if (category === 'restful') return true;
  if (category === 'mail') return config.host !== undefined && config.from !== undefined;
  return category === 'content_creator' && config.account_api_url !== undefined;
}
