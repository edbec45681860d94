import type { RequestHandler } from 'express';
import { clientAuthMethods, supportedGrantTypes } from '../../auth/oauth/clients.js';
import { Scope } from '../../auth/oauth/scopes.js';
import { assertionAlgorithms } from './clients/client-assertion.js';

const cacheSeconds = 300;

/** Returns the metadata of the authorization server (RFC 8414; RFC 8628, 4), with the values of the specification (OAuth 2.1). */
export function authorizationServerMetadata(baseUrl: string) {
  return {
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}/oauth/authorize`,
    token_endpoint: `${baseUrl}/oauth/token`,
    device_authorization_endpoint: `${baseUrl}/oauth/device_authorization`,
    registration_endpoint: `${baseUrl}/oauth/register`,
    revocation_endpoint: `${baseUrl}/oauth/revoke`,
    jwks_uri: `${baseUrl}/.well-known/jwks.json`,
    scopes_supported: Scope.options,
    grant_types_supported: supportedGrantTypes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: clientAuthMethods,
    token_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    revocation_endpoint_auth_methods_supported: clientAuthMethods,
    revocation_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}

/** Returns the metadata of a protected resource (RFC 9728). */
export function protectedResourceMetadata(baseUrl: string, resource: string) {
  return {
    resource,
    authorization_servers: [baseUrl],
    jwks_uri: `${baseUrl}/.well-known/jwks.json`,
    scopes_supported: Scope.options,
    bearer_methods_supported: ['header'],
    resource_name: 'Governed context and workflow service',
  };
}

export function serveDocument(document: () => object): RequestHandler {
  return (_req, res) => {
    res.set('Cache-Control', `public, max-age=${cacheSeconds}`).json(document());
  };
}
