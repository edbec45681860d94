import { beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { apiClient } from '../../support/client.js';
import { ownProduct } from '../../support/own-product.js';
import { verifies } from '../../support/verifies.js';
import { obtainTokens, refresh, registerClient, type Tokens } from './flow.js';
import { useOauthServer } from './oauth-server.js';
import { sizeOf } from '../../requirements/full-forms.js';

const server = useOauthServer();
const neighbour = useOauthServer({ baseUrl: () => server.url });
const overrides: Record<string, string> = {};
const product = ownProduct(overrides);
const rounds = sizeOf('REFRESH_ROUNDS');
let person: Person;
beforeAll(async () => {
  person = await createPerson(server.deps);
});

const grantOf = (tokens: Tokens) => String(decodeJwt(tokens.access_token).sid);
const grants = () => server.deps.mongo.collections.oauth_grants;

/** Moves the first use of the token of this generation into the past. */
async function backdate(tokens: Tokens, generation: number, seconds: number): Promise<void> {
  const stored = await grants().findOne({ _id: grantOf(tokens) });
  const at = (stored?.rotated_at[`g${generation}`] ?? 0) - seconds;
  await grants().updateOne({ _id: grantOf(tokens) }, { $set: { [`rotated_at.g${generation}`]: at } });
}

describe('POST /oauth/token with a refresh token', () => {
  test('returns a new pair for the same grant', async () => {
    verifies('oauth.token.refresh');
    const { client, tokens } = await obtainTokens(server, person, { fields: { resource: `${server.baseUrl}/mcp` } });
    const { status, headers, body } = await refresh(server.client(), client, tokens.refresh_token);
    expect([status, headers.get('cache-control'), body.scope]).toEqual([200, 'no-store', tokens.scope]);
    expect(body.refresh_token).not.toBe(tokens.refresh_token);
    expect(decodeJwt(body.access_token)).toMatchObject({
      aud: `${server.baseUrl}/mcp`,
      project_id: person.workspace.projectID,
    });
    expect((await server.as(body.access_token).get('/probe')).status).toBe(200);
  });

  test('returns the same child to a repeat within ten seconds, also in another process', async () => {
    verifies('oauth.token.refresh.grace');
    const { client, tokens } = await obtainTokens(server, person);
    const first = await refresh(server.client(), client, tokens.refresh_token);
    const repeat = await refresh(neighbour.client(), client, tokens.refresh_token);
    expect(repeat.body.refresh_token).toBe(first.body.refresh_token);
    await backdate(tokens, 0, 5);
    expect((await refresh(server.client(), client, tokens.refresh_token)).body.refresh_token).toBe(
      first.body.refresh_token,
    );
  });

  test('ends the whole family for a reuse after that', async () => {
    verifies('oauth.token.refresh.reuse', 'oauth.token.refresh');
    const { client, tokens } = await obtainTokens(server, person);
    const child = (await refresh(server.client(), client, tokens.refresh_token)).body;
    await backdate(tokens, 0, 11);
    const reuse = await refresh(neighbour.client(), client, tokens.refresh_token);
    expect([reuse.status, reuse.body.error]).toEqual([400, 'invalid_grant']);
    expect((await refresh(server.client(), client, child.refresh_token)).body.error).toBe('invalid_grant');
    for (const { access_token } of [tokens, child])
      expect((await server.as(access_token).get('/probe')).status).toBe(401);
  });

  test('detects a reuse after any number of generations', async () => {
    verifies('oauth.token.refresh.reuse');
    const { client, tokens } = await obtainTokens(server, person);
    let latest = tokens;
    for (let generation = 0; generation < 23; generation += 1)
      latest = (await refresh(server.client(), client, latest.refresh_token)).body;
    expect(Object.keys((await grants().findOne({ _id: grantOf(tokens) }))?.rotated_at ?? {})).toHaveLength(20);
    expect((await refresh(server.client(), client, tokens.refresh_token)).body.error).toBe('invalid_grant');
    expect((await refresh(server.client(), client, latest.refresh_token)).body.error).toBe('invalid_grant');
  });

  test('refuses a forged token of an existing grant', async () => {
    const { client, tokens } = await obtainTokens(server, person);
    const bytes = Buffer.from(tokens.refresh_token.slice(8), 'base64url');
    bytes[19] = 1;
    expect((await refresh(server.client(), client, `svc_ort_${bytes.toString('base64url')}`)).body.error).toBe(
      'invalid_grant',
    );
    expect((await refresh(server.client(), client, tokens.refresh_token)).status).toBe(200);
  });

  test('refuses another client and keeps the family', async () => {
    const { client, tokens } = await obtainTokens(server, person);
    expect((await refresh(server.client(), await registerClient(server), tokens.refresh_token)).body.error).toBe(
      'invalid_grant',
    );
    expect((await refresh(server.client(), client, tokens.refresh_token)).status).toBe(200);
  });

  test('narrows the scope for one token and never widens it', async () => {
    const { client, tokens } = await obtainTokens(server, person, {
      choice: { scopes: ['svc:query.read', 'svc:agent.run'] },
    });
    const less = await refresh(server.client(), client, tokens.refresh_token, { scope: 'svc:query.read' });
    expect(less.body.scope).toBe('svc:query.read');
    const all = await refresh(server.client(), client, less.body.refresh_token);
    expect(all.body.scope).toBe('svc:query.read svc:agent.run');
    for (const scope of ['svc:query.read svc:ontology.write', 'svc:skill.write', 'openid']) {
      expect((await refresh(server.client(), client, all.body.refresh_token, { scope })).body.error).toBe(
        'invalid_scope',
      );
    }
  });

  test('grants what the person can grant today, and ends when nothing is left', async () => {
    const member = await createPerson(server.deps, { role: 'PROJECT_ADMIN' });
    const { client, tokens } = await obtainTokens(server, member);
    const { memberships } = server.deps.mongo.collections;
    const _id = `project:${member.workspace.projectID}:${member.userId}`;
    await memberships.updateOne({ _id }, { $set: { role: 'MEMBER' } });
    const less = await refresh(server.client(), client, tokens.refresh_token);
    expect([less.body.scope, decodeJwt(less.body.access_token).role]).toEqual([
      'svc:query.read svc:docs.read svc:agent.run',
      'MEMBER',
    ]);
    await memberships.deleteOne({ _id });
    expect((await refresh(server.client(), client, less.body.refresh_token)).body.error).toBe('invalid_grant');
    expect((await server.as(less.body.access_token).get('/probe')).status).toBe(401);
  });

  test('ends after thirty days without use', async () => {
    const { client, tokens } = await obtainTokens(server, person);
    const stored = await grants().findOne({ _id: grantOf(tokens) });
    expect(Math.round(((stored?.refresh_until ?? 0) - (stored?.created_at ?? 0)) / 86_400)).toBe(30);
    await grants().updateOne({ _id: grantOf(tokens) }, { $set: { refresh_until: Date.now() / 1000 - 1 } });
    expect((await refresh(server.client(), client, tokens.refresh_token)).body.error).toBe('invalid_grant');
  });

  test(
    `keeps one line of descent under 50 refreshes of one token at once, ${rounds} times across two API processes`,
    async () => {
      verifies('oauth.token.refresh.parallel');
      const { client, tokens } = await obtainTokens(server, person);
      overrides.BASE_URL = server.baseUrl;
      const apis = (await Promise.all([product.api(), product.api()])).map(({ url }) => apiClient(url));
      let line = tokens.refresh_token;
      for (let round = 0; round < rounds; round += 1) {
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, at) => refresh(apis[at % 2] as never, client, line)),
        );
        expect(answers.map(({ status }) => status)).toEqual(Array<number>(50).fill(200));
        const children = new Set(answers.map(({ body }) => body.refresh_token as string));
        expect(children.size).toBe(1);
        line = [...children][0] ?? '';
      }
      const stored = await grants().findOne({ _id: grantOf(tokens) });
      expect([stored?.generation, stored?.revoked_at]).toEqual([rounds, null]);
    },
    30_000 + rounds * 10_000,
  );
});
