/**
 * The paths of this service's surfaces. They form one resource server, which a client can identify by any of them (RFC
 * 8707).
 */
const paths = ['', '/mcp', '/sse', '/v1'] as const;

/** Returns all audiences that a token of this service can have. */
export function resourcesOf(baseUrl: string): string[] {
  return paths.map((path) => baseUrl + path);
}

/** Returns the canonical form of a resource indicator, or undefined if it is not a resource of this service. */
export function ownResource(baseUrl: string, indicator: string): string | undefined {
  if (indicator.length > 2048 || !URL.canParse(indicator)) return undefined;
  const { origin, pathname, search, hash, username, password } = new URL(indicator);
  if (search !== '' || hash !== '' || indicator.includes('#') || username !== '' || password !== '') return undefined;
  const normal = new URL(baseUrl);
  const within = (path: string) => normal.pathname.replace(/\/$/, '') + path;
  const path = paths.find((candidate) => pathname.replace(/\/$/, '') === within(candidate));
  return path === undefined || origin !== normal.origin ? undefined : baseUrl + path;
}
