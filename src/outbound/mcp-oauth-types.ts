import { z } from 'zod';

/** The stored part of an authorization server's metadata (RFC 8414, section 2). */
export const Metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  registration_endpoint: z.string().optional(),
  revocation_endpoint: z.string().optional(),
  response_types_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()).default([]),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  client_id_metadata_document_supported: z.boolean().optional(),
});

/** The authorization server of an MCP server, and what to request from it. Plain JSON, which is stored. */
export interface TokenIssuer {
  metadata: z.infer<typeof Metadata>;
  /** The resource indicator (RFC 8707). */
  resource: string;
  scope?: string | undefined;
}

/** The registration of this product at one authorization server. */
export interface OauthClient {
  client_id: string;
  client_secret?: string | undefined;
  /** Epoch seconds. 0 means never (RFC 7591, 3.2.1). */
  client_secret_expires_at?: number | undefined;
  token_endpoint_auth_method?: string | undefined;
}

export interface OauthTokens {
  access_token: string;
  refresh_token?: string | undefined;
  /** Seconds. */
  expires_in?: number | undefined;
  scope?: string | undefined;
}

export interface IssuerAndClient {
  issuer: TokenIssuer;
  client: OauthClient;
}
