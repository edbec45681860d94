export const clientDocumentPath = '/oauth/client-metadata.json';
/** The page of the console to which authorization servers redirect people. */
const authorizedPath = '/console/mcp-servers/authorized';

/** This product as an OAuth client of MCP servers (OAuth Client ID Metadata Document). */
export function clientDocument(baseUrl: string) {
  return {
    client_id: baseUrl + clientDocumentPath,
    client_name: 'Governed context and workflow service',
    client_uri: baseUrl,
    redirect_uris: [baseUrl + authorizedPath],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    // OpenID Connect permits plain http, as on a machine for development, only to native applications.
    application_type: baseUrl.startsWith('https:') ? 'web' : 'native',
  };
}
