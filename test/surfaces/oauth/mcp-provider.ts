import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { Person } from '../../auth/auth-server.js';
import { press, redirectUri, signedInPage } from './flow.js';
import { openBrowser } from './form-browser.js';

/** Opens the address of a client like the person's browser; returns the final redirect. */
export async function consentInBrowser(url: string, person: Person, address: URL, scopes?: string[]): Promise<URL> {
  const browser = openBrowser(url);
  const { location } = await press(
    browser,
    await signedInPage(browser, person, address.pathname + address.search),
    'allow',
    { ...(scopes && { scopes }) },
  );
  return new URL(location ?? '');
}

/** The data that an application stores for the MCP SDK's client. */
export function mcpProvider(): OAuthClientProvider & {
  opened?: URL;
  saved?: OAuthTokens;
  information: OAuthClientInformationMixed | undefined;
} {
  let verifier = '';
  const provider: ReturnType<typeof mcpProvider> = {
    information: undefined,
    redirectUrl: redirectUri,
    clientMetadata: { client_name: 'MCP client', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' },
    state: () => 'state of the client',
    clientInformation: () => provider.information,
    saveClientInformation: (information) => void (provider.information = information),
    tokens: () => provider.saved,
    saveTokens: (tokens) => void (provider.saved = tokens),
    redirectToAuthorization: (address) => void (provider.opened = address),
    saveCodeVerifier: (text) => void (verifier = text),
    codeVerifier: () => verifier,
    invalidateCredentials: () => {
      provider.information = undefined;
      delete provider.saved;
    },
  };
  return provider;
}
