/** The addresses of this service's surfaces: one resource server, which a client may name by any of them (RFC 8707). */
const paths = ['', '/mcp', '/sse', '/v1'] as const;

/** Every audience that a token of ours can have. */
export function resourcesOf(baseUrl: string): string[] {
  return paths.map((path) => baseUrl + path);
}

/** Our own spelling of a resource indicator; undefined where it names nothing of ours. */
export function ownResource(baseUrl: string, asked: string): string | undefined {
  if (asked.length > 2048 || !URL.canParse(asked)) return undefined;
  const { origin, pathname, search, hash, username, password } = new URL(asked);
  if (search !== '' || hash !== '' || asked.includes('#') || username !== '' || password !== '') return undefined;
  const normal = new URL(baseUrl);
  const within = (path: string) => normal.pathname.replace(/\/$/, '') + path;
  const path = paths.find((candidate) => pathname.replace(/\/$/, '') === within(candidate));
  return path === undefined || origin !== normal.origin ? undefined : baseUrl + path;
}
