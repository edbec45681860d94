import type { Request, RequestHandler } from 'express';
import { OauthError } from '../oauth-error.js';
import type { RateLimit } from '../rate-limit.js';
import { readClientMetadata, registeredMethods } from './client-metadata.js';
import type { Clients } from '../../../auth/oauth/clients.js';
import type { AppSchemes } from '../../../auth/oauth/redirect-uri.js';

const limits = { maxRedirectUris: 10, maxStoredBytes: 4096 };

/**
 * Registers clients dynamically (RFC 7591). Anyone may register, so a registration does not prove the identity of the
 * client.
 */
export function registerHandler({
  clients,
  registrations,
  appSchemes,
}: {
  clients: Clients;
  registrations: RateLimit;
  appSchemes: AppSchemes;
}): RequestHandler {
  return async (req: Request, res) => {
    const address = req.ip ?? '';
    await registrations.take(address);
    if (typeof req.body !== 'object' || req.body === null || Array.isArray(req.body)) {
      throw new OauthError('invalid_client_metadata', 'the body must be a JSON object');
    }
    const metadata = readClientMetadata(req.body, { methods: registeredMethods, ...limits, appSchemes });
    await refuseTooMany(clients, address);
    const { client, secret } = await clients.register(metadata, address);
    res
      .status(201)
      .set('Cache-Control', 'no-store')
      .json({
        client_id: client._id,
        client_id_issued_at: client.created_at,
        ...(secret === undefined ? {} : { client_secret: secret, client_secret_expires_at: 0 }),
        client_name: client.client_name,
        redirect_uris: client.redirect_uris,
        token_endpoint_auth_method: client.token_endpoint_auth_method,
        grant_types: client.grant_types,
        response_types: client.response_types,
        ...(client.jwks && { jwks: client.jwks }),
        ...(typeof client.jwks_uri === 'string' && { jwks_uri: client.jwks_uri }),
      });
  };
}

const retryAfterSeconds = 3600;

/** @throws OauthError `too_many_requests` if too many registrations wait for a consent */
async function refuseTooMany(clients: Clients, address: string): Promise<void> {
  const whose = await clients.whoseAreTooMany(address);
  if (whose === undefined) return;
  throw new OauthError(
    'too_many_requests',
    `too many registrations of ${whose} wait for a person's consent; they expire after a day: use an earlier registration, or try again later`,
    { headers: { 'Retry-After': String(retryAfterSeconds) } },
  );
}
