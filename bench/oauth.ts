import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import express from 'express';
import { exportJWK, generateKeyPair, jwtVerify, type CryptoKey } from 'jose';
import { requestLog } from '../src/http/request-log.js';
import { authenticateBearer } from '../src/auth/authenticate-bearer.js';
import { createClients, type ClientMetadata } from '../src/auth/oauth/clients.js';
import { createOauthRouter } from '../src/surfaces/oauth/create-oauth.js';
import { createOauth } from '../src/auth/oauth/create-oauth.js';
import { createCodes } from '../src/auth/oauth/codes.js';
import { listen } from '../test/support/ports.js';
import { createLibraryServer } from './bare/library-oauth.js';
import type { BenchEnvironment } from './environment.js';
import { eachSide, inParallel, inTurns, medians, perSecond, range, type Figure } from './measure.js';

const callers = 20;
const perRound = 300;
const redirectUri = 'https://client.example/callback';

/** A server for which codes and refresh tokens can be created without a person. */
interface BenchServer {
  url: string;
  clientId: string;
  newCode(challenge: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * Compares the token endpoint with the library's server over the same store, and the check of an access token and its
 * grant with bare `jwtVerify` (issue: goals 0.7 and 0.6).
 */
export async function benchOauth(bench: BenchEnvironment): Promise<Figure[]> {
  const ours = await startOurs(bench);
  const library = await startLibrary(bench);
  try {
    const rounds = await inTurns(
      3,
      () => grantRates(ours),
      () => grantRates(library),
    );
    const codes = eachSide(rounds, (all) => all.map((round) => round.codes));
    const refreshes = eachSide(rounds, (all) => all.map((round) => round.refreshes));
    return [
      medians('code grants', '1/s', codes, 'at least 0.7'),
      medians('refresh grants', '1/s', refreshes, 'at least 0.7'),
      ...(await verifications(bench, ours)),
    ];
  } finally {
    await Promise.all([ours.close(), library.close()]);
  }
}

async function startOurs({ deps, person }: BenchEnvironment): Promise<BenchServer> {
  const app = express();
  const { url, close } = await listen(createServer(app));
  const oauth = createOauth(deps);
  app.use(requestLog(deps.log));
  app.use(createOauthRouter({ ...deps, oauth }, { baseUrl: () => url }));
  const { collections } = deps.mongo;
  const metadata: ClientMetadata = {
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    client_name: 'bench',
  };
  const { client } = await createClients(collections).register(metadata, '127.0.0.1');
  const { userId, projectID: projectId } = await person();
  const codes = createCodes(collections);
  return {
    url,
    close,
    clientId: client._id,
    newCode: (code_challenge) =>
      codes.issue({
        grant: {
          client_id: client._id,
          user_id: userId,
          project_id: projectId,
          scopes: ['svc:query.read'],
          resource: url,
        },
        role: 'OWNER',
        redirect_uri: redirectUri,
        code_challenge,
      }),
  };
}

async function startLibrary({ deps }: BenchEnvironment): Promise<BenchServer> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const server = createServer();
  const { url, close } = await listen(server);
  const library = await createLibraryServer({
    issuer: url,
    redirectUri,
    store: deps.mongo.db.collection('bench_library_oauth'),
    jwk: await exportJWK(privateKey),
  });
  server.on('request', library.listener);
  return { url, close, clientId: library.clientId, newCode: library.newCode };
}

/** Prepares a code. Returns the function that exchanges it for tokens. */
async function prepareExchange(server: BenchServer): Promise<() => Promise<Tokens>> {
  const verifier = randomBytes(32).toString('base64url');
  const code = await server.newCode(createHash('sha256').update(verifier).digest('base64url'));
  const fields = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri };
  return () => token(server, fields);
}

/** Measures the grants of codes, and then of the refresh tokens that they return. */
async function grantRates(server: BenchServer): Promise<{ codes: number; refreshes: number }> {
  const exchanges: (() => Promise<Tokens>)[] = [];
  await inParallel(range(perRound), callers, async () => exchanges.push(await prepareExchange(server)));
  const tokens: Tokens[] = [];
  const codes = await perSecond(perRound, callers, async (at) => tokens.push((await exchanges[at]?.()) as Tokens));
  const refreshes = await perSecond(perRound, callers, (at) =>
    token(server, { grant_type: 'refresh_token', refresh_token: tokens[at]?.refresh_token ?? '' }),
  );
  return { codes, refreshes };
}

interface Tokens {
  access_token: string;
  refresh_token: string;
}

async function token({ url, clientId }: BenchServer, fields: Record<string, string>): Promise<Tokens> {
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: clientId, ...fields }),
  });
  const body = (await response.json()) as Tokens;
  if (response.status !== 200) throw new Error(`token endpoint: ${response.status} ${JSON.stringify(body)}`);
  return body;
}

/** Measures one token that one client sends repeatedly, and a hundred tokens of a hundred clients. */
async function verifications(bench: BenchEnvironment, server: BenchServer): Promise<Figure[]> {
  const deps = { ...bench.deps, oauth: createOauth(bench.deps) };
  const tokens: string[] = [];
  await inParallel(range(100), callers, async () =>
    tokens.push((await (await prepareExchange(server))()).access_token),
  );
  const options = { issuer: server.url, audience: server.url, algorithms: ['ES256'], typ: 'at+jwt' };
  const keyOf = async ({ kid = '' }: { kid?: string }) => (await deps.auth.keys.find(kid)) as CryptoKey;
  const figures: Figure[] = [];
  for (const [what, used] of Object.entries({ 'one client': tokens.slice(0, 1), '100 clients': tokens })) {
    const rates = await inTurns(
      3,
      () => checkRate(used, (one) => authenticateBearer(deps, `Bearer ${one}`, server.url)),
      () => checkRate(used, (one) => jwtVerify(one, keyOf, options)),
    );
    figures.push(medians(`token checks, ${what}`, '1/s', rates, 'at least 0.6'));
  }
  return figures;
}

function checkRate(tokens: readonly string[], check: (token: string) => Promise<unknown>): Promise<number> {
  return perSecond(3000, 50, (at) => check(tokens[at % tokens.length] ?? ''));
}
