import { z } from 'zod';
import { isJsonObject } from '../../../base/json.js';
import { parseWithProblems } from '../../../base/validation.js';
import { OauthError } from '../oauth-error.js';
import { clientAuthMethods, grantTypes, type ClientMetadata } from '../../../auth/oauth/clients.js';
import { redirectUriProblem, type AppSchemes } from '../../../auth/oauth/redirect-uri.js';

const maxNameLength = 100;
const maxKeys = 20;
const Names = z.array(z.string().max(200)).max(50);

/**
 * The metadata that this server reads (RFC 7591, 2). Unknown fields are ignored, as the RFC requires. Fields that are
 * null count as absent.
 */
const Metadata = z.object({
  redirect_uris: z.array(z.string()).min(1),
  token_endpoint_auth_method: z.string().max(200).optional(),
  /** Not of RFC 7591, but some documents list all methods that their client can use. */
  token_endpoint_auth_methods_supported: Names.optional(),
  grant_types: Names.optional(),
  response_types: Names.optional(),
  client_name: z.string().max(1000).optional(),
  jwks: z.object({ keys: z.array(z.record(z.string(), z.unknown())).min(1).max(maxKeys) }).optional(),
  jwks_uri: z.string().max(2000).optional(),
});
type Method = ClientMetadata['token_endpoint_auth_method'];

interface MetadataRules {
  /** The methods that the client may use. The first one is the default. */
  methods: readonly Method[];
  maxRedirectUris: number;
  maxStoredBytes: number;
  appSchemes: AppSchemes;
  /** Leaves out redirect URIs that cannot be used, if there are others. */
  skipsOddRedirects?: boolean;
}

/**
 * Validates the metadata of a client and reduces it to what this server supports.
 * @throws OauthError `invalid_redirect_uri` or `invalid_client_metadata` (RFC 7591, 3.2.2)
 */
export function readClientMetadata(value: unknown, rules: MetadataRules): ClientMetadata {
  const given = isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))
    : value;
  const Schema = Metadata.extend({ redirect_uris: Metadata.shape.redirect_uris.max(rules.maxRedirectUris) });
  const parsed = parseWithProblems(Schema, given);
  if ('problems' in parsed) {
    const isAddress = !Schema.pick({ redirect_uris: true }).safeParse(given).success;
    const code = isAddress ? 'invalid_redirect_uri' : 'invalid_client_metadata';
    throw new OauthError(code, parsed.problems.slice(0, 5).join('; '));
  }
  const { redirect_uris, grant_types = grantTypes, response_types = ['code'], client_name } = parsed.data;
  if (!grant_types.includes('authorization_code')) throw invalid('grant_types: must include authorization_code');
  if (!response_types.includes('code')) throw invalid('response_types: must include code');
  const token_endpoint_auth_method = methodOf(parsed.data, rules);
  const signs = token_endpoint_auth_method === 'private_key_jwt';
  const metadata: ClientMetadata = {
    redirect_uris: usableRedirects([...new Set(redirect_uris)], rules),
    token_endpoint_auth_method,
    grant_types: grantTypes.filter((type) => grant_types.includes(type)),
    response_types: ['code'],
    client_name: displayName(client_name ?? ''),
    jwks: signs && parsed.data.jwks_uri === undefined ? (parsed.data.jwks ?? null) : null,
    jwks_uri: signs ? (parsed.data.jwks_uri ?? null) : null,
  };
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes > rules.maxStoredBytes)
    throw invalid(
      `the metadata has ${bytes} bytes; at most ${rules.maxStoredBytes} are stored: give fewer or shorter redirect_uris`,
    );
  return metadata;
}

/**
 * Returns the method that the client names. If this server does not support it, returns one of those that the client
 * lists. A client that names `private_key_jwt` and has keys must use it, because others could otherwise act as this client.
 */
function methodOf(
  {
    token_endpoint_auth_method: named,
    token_endpoint_auth_methods_supported: listed = [],
    jwks,
    jwks_uri,
  }: z.infer<typeof Metadata>,
  { methods }: MetadataRules,
): Method {
  const hasKeys = jwks !== undefined || jwks_uri !== undefined;
  const usable = methods.filter((method) => method !== 'private_key_jwt' || hasKeys);
  const found = usable.find((method) => method === named) ?? usable.find((method) => listed.includes(method));
  if (found) return found;
  if (named === undefined && usable[0]) return usable[0];
  if (named === 'private_key_jwt' && !hasKeys)
    throw invalid('token_endpoint_auth_method: private_key_jwt needs jwks or jwks_uri');
  throw invalid(`token_endpoint_auth_method: must be one of ${methods.join(', ')}`);
}

function usableRedirects(uris: readonly string[], { appSchemes, skipsOddRedirects }: MetadataRules): string[] {
  const problems = uris.map((uri) => redirectUriProblem(uri, appSchemes));
  const usable = uris.filter((_uri, at) => problems[at] === undefined);
  const at = problems.findIndex((problem) => problem !== undefined);
  if (at !== -1 && !(skipsOddRedirects && usable.length > 0))
    throw new OauthError('invalid_redirect_uri', `redirect_uris.${at} ${problems[at]}`);
  return usable;
}

/**
 * Returns a name that is safe to display: without line breaks, invisible characters and characters that change the text
 * direction.
 */
export function displayName(text: string): string {
  const plain = text.normalize('NFC').replace(/\s+/gu, ' ').replace(/\p{C}/gu, '').trim();
  return [...plain].slice(0, maxNameLength).join('');
}

/** The methods that a registered client may use. `client_secret_basic` is the default (RFC 7591, 2). */
export const registeredMethods: readonly Method[] = [
  'client_secret_basic',
  ...clientAuthMethods.filter((method) => method !== 'client_secret_basic'),
];

function invalid(description: string): OauthError {
  return new OauthError('invalid_client_metadata', description);
}
