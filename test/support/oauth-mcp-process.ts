import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { announce } from './ports.js';

/**
 * A process with an authorization server and the MCP server that it protects. A request to the authorization address with
 * `person=<name>` signs in as this person. Tests change `config` and read `stats` at `/control`.
 */
const config = {
  documents: false,
  lifetime: 3600,
  issuer: 'right' as 'right' | 'wrong' | 'none',
  methods: ['S256'],
  /** The number of refreshes that are answered with 503. */
  failures: 0,
  /** The number of answers to refreshes that are lost after the tokens rotated. The same refresh can be requested again. */
  losses: 0,
  /** Whether it issues refresh tokens. */
  refreshable: true,
  /** The address of the token endpoint in the metadata. */
  tokenEndpoint: '',
  /** Whether tokens can be revoked, or the metadata only states that they can. */
  revocation: 'works' as 'works' | 'fails' | 'none',
  /** Whether clients can register. */
  registers: true,
  /** A scope without which the MCP server answers 403. */
  needed: '',
  /** Another issuer, which the MCP server names instead of this one. */
  otherIssuer: '',
  /** The tools that are not offered to a person, by name of the person. */
  hidden: {} as Record<string, string[]>,
};
const stats = {
  ...{ registrations: 0, exchanges: 0, refreshes: 0, asked: 0, calls: 0, refused: 0 },
  mismatches: [] as string[],
  authorizations: [] as Record<string, string>[],
};

interface Grant {
  scope: string;
  person: string;
  resource: string;
  challenge?: string;
  redirect?: string;
  client: string;
}
const codes = new Map<string, Grant>();
const access = new Map<string, Grant & { until: number }>();
const refresh = new Map<string, Grant>();
const lost = new Map<string, object>();
const clients = new Map<string, string | undefined>();
const random = () => randomBytes(24).toString('base64url');
let base = '';

function metadata() {
  return {
    issuer: base,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: config.tokenEndpoint || `${base}/token`,
    ...(config.registers && { registration_endpoint: `${base}/register` }),
    ...(config.revocation !== 'none' && { revocation_endpoint: `${base}/revoke` }),
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: config.methods,
    token_endpoint_auth_methods_supported: ['client_secret_basic', ...(config.documents ? ['none'] : [])],
    authorization_response_iss_parameter_supported: config.issuer !== 'none',
    client_id_metadata_document_supported: config.documents,
    scopes_supported: ['tools', 'offline_access'],
  };
}

function json(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(body));
}

const refused = (res: ServerResponse, error: string) => json(res, 400, { error });

async function authorize(res: ServerResponse, query: URLSearchParams): Promise<void> {
  const asked = Object.fromEntries(query);
  stats.authorizations.push(asked);
  const { client_id = '', redirect_uri = '', code_challenge = '', person = '', resource = '', state = '' } = asked;
  const { scope = '' } = asked;
  if (asked.code_challenge_method !== 'S256' || resource !== `${base}/mcp`) return refused(res, 'invalid_request');
  if (!clients.has(client_id)) {
    if (!config.documents) return refused(res, 'invalid_client');
    const document: any = await (await fetch(client_id)).json();
    if (document.client_id !== client_id || !document.redirect_uris.includes(redirect_uri))
      return refused(res, 'invalid_client');
    clients.set(client_id, undefined);
  }
  const back = new URL(redirect_uri);
  back.searchParams.set('state', state);
  if (config.issuer !== 'none')
    back.searchParams.set('iss', config.issuer === 'right' ? base : 'https://other.example.com');
  if (person === '') back.searchParams.set('error', 'access_denied');
  else {
    const code = random();
    codes.set(code, { scope, person, resource, challenge: code_challenge, redirect: redirect_uri, client: client_id });
    back.searchParams.set('code', code);
  }
  res.writeHead(302, { location: back.href }).end();
}

function issue({ scope, person, resource, client }: Grant): object {
  const [access_token, refresh_token] = [`at-${random()}`, `rt-${random()}`];
  access.set(access_token, { scope, person, resource, client, until: Date.now() + config.lifetime * 1000 });
  refresh.set(refresh_token, { scope, person, resource, client });
  const shown = config.refreshable ? { refresh_token } : {};
  const given = scope.replace(' offline_access', '');
  return { access_token, ...shown, token_type: 'Bearer', expires_in: config.lifetime, scope: given };
}

function clientOf(req: IncomingMessage, form: Record<string, string>): string | undefined {
  const [scheme, value = ''] = (req.headers.authorization ?? '').split(' ');
  const [id = '', secret] =
    scheme === 'Basic'
      ? Buffer.from(value, 'base64').toString().split(':').map(decodeURIComponent)
      : [form.client_id, form.client_secret];
  return clients.has(id) && clients.get(id) === secret ? id : undefined;
}

function token(req: IncomingMessage, res: ServerResponse, form: Record<string, string>): void {
  const client = clientOf(req, form);
  if (client === undefined) return refused(res, 'invalid_client');
  if (form.resource !== `${base}/mcp`) return refused(res, 'invalid_target');
  if (form.grant_type === 'authorization_code') {
    const grant = codes.get(form.code ?? '');
    codes.delete(form.code ?? '');
    const challenge = createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url');
    if (grant?.client !== client || grant.challenge !== challenge || grant.redirect !== form.redirect_uri)
      return refused(res, 'invalid_grant');
    stats.exchanges += 1;
    return json(res, 200, issue(grant));
  }
  stats.asked += 1;
  if (config.failures > 0) {
    config.failures -= 1;
    return json(res, 503, { error: 'temporarily_unavailable' });
  }
  const given = form.refresh_token ?? '';
  const again = lost.get(given);
  if (again) return json(res, 200, again);
  const grant = refresh.get(given);
  refresh.delete(given);
  if (grant?.client !== client) return refused(res, 'invalid_grant');
  stats.refreshes += 1;
  const answer = issue(grant);
  if (config.losses === 0) return json(res, 200, answer);
  config.losses -= 1;
  lost.set(given, answer);
  res.destroy();
}

/** RFC 7009. */
function revoke(req: IncomingMessage, res: ServerResponse, form: Record<string, string>): void {
  if (config.revocation === 'fails') return json(res, 503, {});
  if (clientOf(req, form) === undefined) return refused(res, 'invalid_client');
  access.delete(form.token ?? '');
  refresh.delete(form.token ?? '');
  res.writeHead(200).end();
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const blob = Buffer.from('a blob').toString('base64');
const results: Record<string, (grant: Grant, token: string) => object[]> = {
  whoami: ({ person }) => [{ type: 'text', text: person }],
  files: () => [
    { type: 'image', data: png, mimeType: 'image/png' },
    { type: 'audio', data: blob, mimeType: 'audio/wav' },
    { type: 'resource', resource: { uri: 'file:///tmp/a%20report.bin', blob, mimeType: 'application/x-report' } },
    { type: 'resource', resource: { uri: 'file:///note', text: 'a note' } },
  ],
  many: () => Array.from({ length: 25 }, () => ({ type: 'image', data: png, mimeType: 'image/png' })),
  leak: (_grant, token) => [{ type: 'text', text: `your token is ${token}` }],
};

function mcp(req: IncomingMessage, res: ServerResponse): void {
  const token = (req.headers.authorization ?? '').replace(/^Bearer /, '');
  const grant = access.get(token);
  if (!grant || grant.until < Date.now() || grant.resource !== `${base}/mcp`) {
    stats.refused += 1;
    const challenge = `Bearer resource_metadata="${base}/resource", scope="tools"`;
    res.writeHead(401, { 'www-authenticate': challenge }).end();
    return;
  }
  if (config.needed !== '' && !grant.scope.split(' ').includes(config.needed)) {
    const challenge = `Bearer error="insufficient_scope", scope="${config.needed}"`;
    res.writeHead(403, { 'www-authenticate': challenge }).end();
    return;
  }
  const server = new Server({ name: 'protected', version: '1' }, { capabilities: { tools: {} } });
  const inputSchema = { type: 'object' as const, properties: { person: { type: 'string' } } };
  const tools = Object.keys(results)
    .filter((name) => !config.hidden[grant.person]?.includes(name))
    .map((name) => ({ name, description: `Does ${name}`, inputSchema }));
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    stats.calls += 1;
    const person = params.arguments?.person;
    if (person !== undefined && person !== grant.person)
      stats.mismatches.push(`${JSON.stringify(person)}: ${grant.person}`);
    return { content: results[params.name]?.(grant, token) ?? [] };
  });
  const transport = new StreamableHTTPServerTransport({});
  res.on('close', () => void server.close());
  void server.connect(transport as never).then(() => transport.handleRequest(req, res));
}

async function register(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const asked: any = JSON.parse(await text(req));
  const [client_id, client_secret] = [random(), random()];
  clients.set(client_id, client_secret);
  stats.registrations += 1;
  json(res, 201, { ...asked, client_id, client_secret, client_secret_expires_at: 0 });
}

async function control(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { expire, forget, forgetClients, client, ...changes } = JSON.parse((await text(req)) || '{}');
  Object.assign(config, changes);
  if (client !== undefined) clients.set(client.id, client.secret);
  if (expire === true) access.clear();
  if (forget === true) refresh.clear();
  if (forgetClients === true) clients.clear();
  json(res, 200, { ...stats, tokens: [...access.keys(), ...refresh.keys()] });
}

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(req.url ?? '/', base);
  if (pathname === '/mcp') return mcp(req, res);
  if (pathname === '/control') return control(req, res);
  if (pathname === '/register') return register(req, res);
  if (pathname === '/authorize') return authorize(res, searchParams);
  if (pathname === '/token') return token(req, res, Object.fromEntries(new URLSearchParams(await text(req))));
  if (pathname === '/revoke') return revoke(req, res, Object.fromEntries(new URLSearchParams(await text(req))));
  if (pathname === '/.well-known/oauth-authorization-server') return json(res, 200, metadata());
  if (pathname === '/resource')
    return json(res, 200, {
      ...{ resource: `${base}/mcp`, scopes_supported: ['tools'] },
      authorization_servers: [config.otherIssuer || base],
    });
  res.writeHead(404).end();
}

base = (await announce(createServer((req, res) => void answer(req, res)))).url;
