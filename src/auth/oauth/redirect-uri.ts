const maxLength = 2000;
const loopbackHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
/** The schemes without a dot that apps may use. */
export type AppSchemes = ReadonlySet<string>;

/** The schemes of known apps. They contain no dot, although RFC 8252 (7.1) requires reverse domain names. */
const knownAppSchemes = [
  ...['cursor', 'vscode', 'vscode-insiders', 'vscodium', 'code-oss', 'windsurf', 'zed', 'goose', 'raycast', 'warp'],
  ...['claude', 'kiro', 'trae', 'antigravity', 'lmstudio'],
];

/** The known schemes, and those that the operator adds. */
export function appSchemesWith(added: readonly string[]): AppSchemes {
  return new Set([...knownAppSchemes, ...added]);
}

const plainHost = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/;
/** The characters that RFC 3986 allows in a URI, without `*`: a wildcard is never allowed. */
const addressCharacters = /^[A-Za-z0-9\-._~:/?@!$&'()+,;=%[\]]+$/;

/**
 * Returns why a redirect URI cannot be registered (RFC 9700, 2.1 and 4.1; RFC 8252, 7). Returns undefined if it can be:
 * https, http on a loopback host, or the private-use scheme of an app.
 */
export function redirectUriProblem(text: string, appSchemes: AppSchemes): string | undefined {
  if (text.length > maxLength) return `longer than ${maxLength} characters`;
  if (text.includes('#')) return 'has a fragment';
  if (text.includes('*')) return 'has a wildcard';
  if (!addressCharacters.test(text) || !URL.canParse(text)) return 'is not an absolute address';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'carries credentials';
  const scheme = url.protocol.slice(0, -1);
  if (scheme === 'https') return webHostProblem(url, text);
  if (scheme === 'http')
    return loopbackHosts.has(url.hostname)
      ? webHostProblem(url, text)
      : 'must use https, because its host is not a loopback host';
  return isAppScheme(scheme, appSchemes) ? undefined : `has a scheme that is neither https nor an app's own`;
}

/** Rejects a host that the URL parser would rewrite, or that could end a Content-Security-Policy source. */
function webHostProblem(url: URL, text: string): string | undefined {
  const isPlain = plainHost.test(url.hostname) && text.toLowerCase().startsWith(`${url.protocol}//${url.hostname}`);
  return isPlain ? undefined : 'has a host that is not a plain name or address';
}

/**
 * Accepts known schemes and reverse domain names (RFC 8252). `javascript:`, `data:` and similar schemes contain no dot.
 */
function isAppScheme(scheme: string, appSchemes: AppSchemes): boolean {
  return appSchemes.has(scheme) || /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+$/.test(scheme);
}

/**
 * Requires an exact match. Only the port of a loopback URI can vary, because an app chooses it at each start (RFC 8252,
 * 7.3).
 */
export function isRegisteredRedirect(uri: string, registered: readonly string[]): boolean {
  if (registered.includes(uri)) return true;
  if (redirectUriProblem(uri, new Set()) !== undefined) return false;
  const portless = withoutLoopbackPort(uri);
  return portless !== undefined && registered.some((one) => withoutLoopbackPort(one) === portless);
}

function withoutLoopbackPort(text: string): string | undefined {
  const parts = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?((?:[/?].*)?)$/.exec(text);
  return parts ? `http://${parts[1]}${parts[2]}` : undefined;
}

export function isLoopback(text: string): boolean {
  return withoutLoopbackPort(text) !== undefined;
}

/** Describes the target of a redirect for a person. */
export function redirectHost(text: string): string {
  const url = new URL(text);
  if (isLoopback(text)) return 'an app on this device';
  return url.protocol === 'https:' ? url.host : `the app that opens ${url.protocol}// links`;
}

/** Returns the Content-Security-Policy source for this redirect URI (CSP 3 checks form-action on redirects as well). */
export function formActionSource(text: string): string {
  const { protocol, host, hostname, port } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return protocol;
  // A CSP host source cannot express an IPv6 address.
  return hostname.startsWith('[') ? `${protocol}//*${port === '' ? '' : `:${port}`}` : `${protocol}//${host}`;
}
