const longest = 2000;
const loopbackHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Apps that have claimed a scheme without a dot, which RFC 8252 (7.1) would have wanted. */
const knownAppSchemes: ReadonlySet<string> = new Set(['cursor', 'vscode', 'vscode-insiders', 'windsurf', 'zed', 'goose', 'raycast']);
const plainHost = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/;
/** What RFC 3986 lets stand in an address, so no space, quote, backslash, angle bracket or wildcard of ours. */
const addressCharacters = /^[A-Za-z0-9\-._~:/?@!$&'()+,;=%[\]]+$/;

/**
 * Why a redirect address cannot be registered (RFC 9700, 2.1 and 4.1; RFC 8252, 7), or undefined for a good one: https,
 * http on a loopback host, or an app's private-use scheme.
 */
export function redirectUriProblem(text: string): string | undefined {
  if (text.length > longest) return `longer than ${longest} characters`;
  if (text.includes('#')) return 'has a fragment';
  if (text.includes('*')) return 'has a wildcard';
  if (!addressCharacters.test(text) || !URL.canParse(text)) return 'is not an absolute address';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'carries credentials';
  const scheme = url.protocol.slice(0, -1);
  if (scheme === 'https') return webHostProblem(url, text);
  if (scheme === 'http') return loopbackHosts.has(url.hostname) ? webHostProblem(url, text) : 'is http on a host that is not loopback';
  return isAppScheme(scheme) ? undefined : `has a scheme that is neither https nor an app's own`;
}

/** A host that the parser would rewrite, or that could end a Content-Security-Policy source, is not taken. */
function webHostProblem(url: URL, text: string): string | undefined {
  const isPlain = plainHost.test(url.hostname) && text.toLowerCase().startsWith(`${url.protocol}//${url.hostname}`);
  return isPlain ? undefined : 'has a host that is not a plain name or address';
}

/** Reverse domain names, as RFC 8252 has them; `javascript:`, `data:` and their like have no dot. */
function isAppScheme(scheme: string): boolean {
  return knownAppSchemes.has(scheme) || /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+$/.test(scheme);
}

/** Equal to the letter; only the port of a loopback address is the app's to choose at each start (RFC 8252, 7.3). */
export function isRegisteredRedirect(asked: string, registered: readonly string[]): boolean {
  if (registered.includes(asked)) return true;
  if (redirectUriProblem(asked) !== undefined) return false;
  const portless = withoutLoopbackPort(asked);
  return portless !== undefined && registered.some((one) => withoutLoopbackPort(one) === portless);
}

function withoutLoopbackPort(text: string): string | undefined {
  const parts = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?((?:[/?].*)?)$/.exec(text);
  return parts ? `http://${parts[1]}${parts[2]}` : undefined;
}

export function isLoopback(text: string): boolean {
  return withoutLoopbackPort(text) !== undefined;
}

/** Where a redirect leads, in words that a person can check. */
export function redirectHost(text: string): string {
  const url = new URL(text);
  if (isLoopback(text)) return 'an app on this device';
  return url.protocol === 'https:' ? url.host : `the app that opens ${url.protocol}// links`;
}

/** The source expression that lets a form end at this address (CSP 3, form-action is checked on redirects as well). */
export function formActionSource(text: string): string {
  const { protocol, host, hostname, port } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return protocol;
  // A host source cannot spell an IPv6 address.
  return hostname.startsWith('[') ? `${protocol}//*${port === '' ? '' : `:${port}`}` : `${protocol}//${host}`;
}
