import { beforeAll, describe, expect, test } from '@jest/globals';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { verifies } from '../../support/verifies.js';
import { obtainTokens, postForm, refresh, registerClient, type TestClient } from './flow.js';
import { useOauthServer } from './oauth-server.js';

const server = useOauthServer();
const neighbour = useOauthServer({ baseUrl: () => server.url });
let person: Person;
beforeAll(async () => {
  person = await createPerson(server.deps);
});

const revoke = (client: TestClient, token: string, hint?: string) =>
  postForm(
    server.client(),
    '/oauth/revoke',
    new URLSearchParams({ client_id: client.client_id, token, ...(hint && { token_type_hint: hint }) }).toString(),
  );

describe('POST /oauth/revoke', () => {
  test.each(['refresh_token', 'access_token'] as const)(
    'ends a grant at once by its %s, in every process',
    async (kind) => {
      verifies('oauth.revoke');
      const { client, tokens } = await obtainTokens(server, person);
      expect((await neighbour.as(tokens.access_token).get('/probe')).status).toBe(200);
      expect((await revoke(client, tokens[kind], kind)).status).toBe(200);
      expect((await neighbour.as(tokens.access_token).get('/probe')).status).toBe(401);
      expect((await refresh(neighbour.client(), client, tokens.refresh_token)).body.error).toBe('invalid_grant');
      expect((await revoke(client, tokens[kind])).status).toBe(200);
    },
  );

  test.each(['nothing of ours', `svc_ort_${'A'.repeat(70)}`, 'e30.e30.e30'])(
    'answers 200 for the unknown token %s',
    async (token) => {
      verifies('oauth.revoke');
      expect((await revoke(await registerClient(server), token)).status).toBe(200);
    },
  );

  test('accepts any hint', async () => {
    const { client, tokens } = await obtainTokens(server, person);
    expect((await revoke(client, tokens.refresh_token, 'access_token')).status).toBe(200);
    expect((await server.as(tokens.access_token).get('/probe')).status).toBe(401);
  });

  test('refuses a token of another client and keeps it valid', async () => {
    const { tokens } = await obtainTokens(server, person);
    const other = await registerClient(server);
    for (const token of [tokens.refresh_token, tokens.access_token])
      expect((await revoke(other, token)).body.error).toBe('invalid_grant');
    expect((await server.as(tokens.access_token).get('/probe')).status).toBe(200);
  });

  test('refuses an unknown client and a request without a token', async () => {
    expect((await revoke({ client_id: 'nobody', token_endpoint_auth_method: 'none' }, 'x')).status).toBe(401);
    expect(
      (await postForm(server.client(), '/oauth/revoke', `client_id=${(await registerClient(server)).client_id}`)).body
        .error,
    ).toBe('invalid_request');
  });
});

test('other parts of the product can end the grants of a person on a project', async () => {
  const { tokens } = await obtainTokens(server, person);
  await server.deps.oauth.grants.revokeAll(
    { userId: person.userId, projectId: person.workspace.projectID },
    'taken off the project',
  );
  expect((await server.as(tokens.access_token).get('/probe')).status).toBe(401);
});
