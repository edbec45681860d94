import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { exportJWK, generateKeyPair, jwtVerify, type CryptoKey } from 'jose';
import { requestLog } from '../src/http/request-log.js';
import { authenticateBearer } from '../src/auth/authenticate-bearer.js';
import { createUser, grantRole } from '../src/auth/users.js';
import { newId } from '../src/ids.js';
import { createClients } from '../src/auth/oauth/clients.js';
import { createOauthRouter } from '../src/surfaces/oauth/create-oauth.js';
import { createOauth } from '../src/auth/oauth/create-oauth.js';
import { createCodes } from '../src/auth/oauth/codes.js';
import { storeProject } from '../src/domain/projects/operations.js';
import { createLibraryServer } from './bare/library-oauth.js';
import type { BenchEnvironment } from './environment.js';
import { figure, inParallel, median, range, timed, type Figure } from './measure.js';

const callers = 20;
const perRound = 300;
const redirectUri = 'https://client.example/callback';

/** A server for which codes and refresh tokens can be created without a person. */
export interface BenchServer {
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
    await codeRound(ours);
    await codeRound(library);
    const codes = [];
    const refreshes = [];
    for (let round = 0; round < 3; round += 1) {
      const [ourRound, libraryRound] = [await codeRound(ours), await codeRound(library)];
      codes.push({ ours: ourRound.perSecond, library: libraryRound.perSecond });
      refreshes.push({
        ours: await refreshRound(ours, ourRound.refreshTokens),
        library: await refreshRound(library, libraryRound.refreshTokens),
      });
    }
    return [
      figure(
        'code grants',
        '1/s',
        median(codes.map((one) => one.ours)),
        median(codes.map((one) => one.library)),
        'at least 0.7',
      ),
      figure(
        'refresh grants',
        '1/s',
        median(refreshes.map((one) => one.ours)),
        median(refreshes.map((one) => one.library)),
        'at least 0.7',
      ),
      ...(await verifications(bench, ours)),
    ];
  } finally {
    await Promise.all([ours.close(), library.close()]);
  }
}

async function startOurs({ deps }: BenchEnvironment): Promise<BenchServer> {
  const app = express();
  const { url, close } = await listen(app);
  const oauth = createOauth(deps);
  app.use(requestLog(deps.log));
  app.use(createOauthRouter({ ...deps, oauth }, { baseUrl: () => url }));
  const { collections } = deps.mongo;
  const { client } = await createClients(collections).register({
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    client_name: 'bench',
  });
  const [userId, organizationId, departmentId, projectId] = [newId(), newId(), newId(), newId()];
  await createUser(collections, {
    id: userId,
    email: `${userId}@example.com`,
    name: 'Bench',
    password: newId(),
    organizationId,
  });
  await grantRole(collections, { userId, organizationId, projectId: null, role: 'OWNER' });
  await storeProject(collections, {
    _id: projectId,
    name: projectId,
    organization_id: organizationId,
    department_id: departmentId,
    user_id: userId,
  });
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
  const handlers: { listener?: RequestListener } = {};
  const { url, close } = await listen((req, res) => handlers.listener?.(req, res));
  const library = await createLibraryServer({
    issuer: url,
    redirectUri,
    store: deps.mongo.db.collection('bench_library_oauth'),
    jwk: await exportJWK(privateKey),
  });
  handlers.listener = library.listener;
  return { url, close, clientId: library.clientId, newCode: library.newCode };
}

async function listen(listener: RequestListener): Promise<{ url: string; close(): Promise<void> }> {
  const server: Server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Prepared {
  code: string;
  verifier: string;
}

async function codeRound(server: BenchServer): Promise<{ perSecond: number; refreshTokens: string[] }> {
  const prepared: Prepared[] = [];
  await inParallel(range(perRound), callers, async () => {
    const verifier = randomBytes(32).toString('base64url');
    prepared.push({ verifier, code: await server.newCode(createHash('sha256').update(verifier).digest('base64url')) });
  });
  const refreshTokens: string[] = [];
  const ms = await timed(() =>
    inParallel(prepared, callers, async ({ code, verifier }) => {
      const answer = await token(server, {
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        redirect_uri: redirectUri,
      });
      refreshTokens.push(answer.refresh_token);
    }),
  );
  return { perSecond: (perRound / ms) * 1000, refreshTokens };
}

async function refreshRound(server: BenchServer, refreshTokens: string[]): Promise<number> {
  const ms = await timed(() =>
    inParallel(refreshTokens, callers, async (refresh_token) => {
      await token(server, { grant_type: 'refresh_token', refresh_token });
    }),
  );
  return (refreshTokens.length / ms) * 1000;
}

async function token(
  { url, clientId }: BenchServer,
  fields: Record<string, string>,
): Promise<{ access_token: string; refresh_token: string }> {
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: clientId, ...fields }),
  });
  const body = (await response.json()) as { access_token: string; refresh_token: string };
  if (response.status !== 200) throw new Error(`token endpoint: ${response.status} ${JSON.stringify(body)}`);
  return body;
}

/** Measures one token that one client sends repeatedly, and a hundred tokens of a hundred clients. */
async function verifications(bench: BenchEnvironment, server: BenchServer): Promise<Figure[]> {
  const deps = { ...bench.deps, oauth: createOauth(bench.deps) };
  const tokens: string[] = [];
  await inParallel(range(100), callers, async () => {
    const verifier = randomBytes(32).toString('base64url');
    const code = await server.newCode(createHash('sha256').update(verifier).digest('base64url'));
    tokens.push(
      (
        await token(server, {
          grant_type: 'authorization_code',
          code,
          code_verifier: verifier,
          redirect_uri: redirectUri,
        })
      ).access_token,
    );
  });
  const figures: Figure[] = [];
  for (const [what, used] of [
    ['one client', tokens.slice(0, 1)],
    ['100 clients', tokens],
  ] as const) {
    const rounds = [];
    for (let round = 0; round < 4; round += 1) {
      const each = (check: (token: string) => Promise<unknown>) => rate(used, check);
      const ours = await each((one) => authenticateBearer(deps, `Bearer ${one}`, server.url));
      const bare = await each((one) =>
        jwtVerify(one, async ({ kid }) => (await deps.auth.keys.find(kid ?? '')) as CryptoKey, {
          issuer: server.url,
          audience: server.url,
          algorithms: ['ES256'],
          typ: 'at+jwt',
        }),
      );
      if (round > 0) rounds.push({ ours, bare });
    }
    figures.push(
      figure(
        `token checks, ${what}`,
        '1/s',
        median(rounds.map(({ ours }) => ours)),
        median(rounds.map(({ bare }) => bare)),
        'at least 0.6',
      ),
    );
  }
  return figures;
}

async function rate(tokens: readonly string[], check: (token: string) => Promise<unknown>): Promise<number> {
  const checks = 3000;
  const ms = await timed(() =>
    inParallel(range(checks), 50, async (at) => void (await check(tokens[at % tokens.length] ?? ''))),
  );
  return (checks / ms) * 1000;
}
