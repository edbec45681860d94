import { z } from 'zod';
import { parseWithProblems } from '../../../problems.js';
import { OauthError } from '../oauth-error.js';
import { clientAuthMethods, grantTypes, type ClientMetadata } from '../../../auth/oauth/clients.js';
import { redirectUriProblem } from '../../../auth/oauth/redirect-uri.js';

const maxRedirectUris = 10;
const maxNameLength = 100;
const maxStoredBytes = 4096;

/** The metadata that this server reads (RFC 7591, 2). Unknown fields are ignored, as the RFC requires. */
const Metadata = z.object({
  redirect_uris: z.array(z.string()).min(1).max(maxRedirectUris),
  token_endpoint_auth_method: z.enum(clientAuthMethods).optional(),
  grant_types: z.array(z.string().max(200)).max(20).optional(),
  response_types: z.array(z.string().max(200)).max(20).optional(),
  client_name: z.string().max(1000).optional(),
  client_uri: z.string().max(2000).optional(),
  scope: z.string().max(2000).optional(),
});

/**
 * Validates the metadata of a client and reduces it to what this server supports.
 * @throws OauthError `invalid_redirect_uri` or `invalid_client_metadata` (RFC 7591, 3.2.2)
 */
export function readClientMetadata(
  value: unknown,
  defaultMethod: ClientMetadata['token_endpoint_auth_method'],
): ClientMetadata {
  const parsed = parseWithProblems(Metadata, value);
  if ('problems' in parsed) {
    const isAddress = !Metadata.pick({ redirect_uris: true }).safeParse(value).success;
    const code = isAddress ? 'invalid_redirect_uri' : 'invalid_client_metadata';
    throw new OauthError(code, parsed.problems.slice(0, 5).join('; '));
  }
  const {
    redirect_uris,
    token_endpoint_auth_method,
    grant_types = grantTypes,
    response_types = ['code'],
    client_name,
  } = parsed.data;
  for (const [at, uri] of redirect_uris.entries()) {
    const problem = redirectUriProblem(uri);
    if (problem !== undefined) throw new OauthError('invalid_redirect_uri', `redirect_uris.${at} ${problem}`);
  }
  if (!grant_types.includes('authorization_code')) throw invalid('grant_types: must include authorization_code');
  if (!response_types.includes('code')) throw invalid('response_types: must include code');
  const metadata: ClientMetadata = {
    redirect_uris: [...new Set(redirect_uris)],
    token_endpoint_auth_method: token_endpoint_auth_method ?? defaultMethod,
    grant_types: grantTypes.filter((type) => grant_types.includes(type)),
    response_types: ['code'],
    client_name: displayName(client_name ?? ''),
  };
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes > maxStoredBytes)
    throw invalid(
      `the metadata has ${bytes} bytes; at most ${maxStoredBytes} are stored: give fewer or shorter redirect_uris`,
    );
  return metadata;
}

/**
 * Returns a name that is safe to display: without line breaks, invisible characters and characters that change the text
 * direction.
 */
function displayName(text: string): string {
  const plain = text.normalize('NFC').replace(/\s+/gu, ' ').replace(/\p{C}/gu, '').trim();
  return [...plain].slice(0, maxNameLength).join('');
}

function invalid(description: string): OauthError {
  return new OauthError('invalid_client_metadata', description);
}
