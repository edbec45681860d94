import type { RequestListener } from 'node:http';
import type { JWK } from 'jose';
import type { Collection } from 'mongodb';
// @ts-expect-error -- it ships no types
import { Provider } from 'oidc-provider';
import { newId } from '../../src/base/ids.js';

const scope = 'svc:query.read';

interface Stored {
  _id: string;
  payload: Record<string, unknown>;
  grant_id?: string;
  expires_at?: Date;
}

interface LibraryServerOptions {
  issuer: string;
  redirectUri: string;
  store: Collection<any>;
  jwk: JWK;
}

/**
 * Creates the baseline of the token endpoint: `oidc-provider` with JWT access tokens and refresh token rotation, over
 * the same MongoDB.
 */
export async function createLibraryServer({ issuer, redirectUri, store, jwk }: LibraryServerOptions) {
  const provider = new Provider(issuer, {
    adapter: adapterOver(store),
    jwks: { keys: [{ ...jwk, alg: 'ES256', use: 'sig', kid: 'bench' }] },
    cookies: { keys: ['bench'] },
    routes: { token: '/oauth/token' },
    scopes: ['openid', scope],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    ttl: { AccessToken: 900, AuthorizationCode: 60, Grant: 30 * 86_400, RefreshToken: 30 * 86_400 },
    findAccount: (_ctx: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => issuer,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope,
          audience: issuer,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
  });
  const clientId = newId();
  const client = {
    client_id: clientId,
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  await provider.Client.adapter.upsert(clientId, client);
  const found = await provider.Client.find(clientId);
  return {
    listener: provider.callback() as RequestListener,
    clientId,
    async newCode(codeChallenge: string): Promise<string> {
      const accountId = newId();
      const grant = new provider.Grant({ accountId, clientId });
      grant.addResourceScope(issuer, scope);
      const grantId = (await grant.save()) as string;
      const code = new provider.AuthorizationCode({
        accountId,
        client: found,
        grantId,
        redirectUri,
        scope,
        resource: issuer,
        codeChallenge,
        codeChallengeMethod: 'S256',
        gty: 'authorization_code',
      });
      return code.save();
    },
  };
}

/** Every operation uses only `_id`, as in the product. */
function adapterOver(store: Collection<Stored>) {
  return class {
    readonly model: string;
    constructor(model: string) {
      this.model = model;
    }
    key(id: string): string {
      return `${this.model}:${id}`;
    }
    async upsert(id: string, payload: Record<string, unknown>, expiresIn?: number): Promise<void> {
      const expires = expiresIn === undefined ? {} : { expires_at: new Date(Date.now() + expiresIn * 1000) };
      await store.replaceOne({ _id: this.key(id) }, { payload, ...expires }, { upsert: true });
    }
    async find(id: string): Promise<Record<string, unknown> | undefined> {
      return (await store.findOne({ _id: this.key(id) }))?.payload;
    }
    async consume(id: string): Promise<void> {
      await store.updateOne({ _id: this.key(id) }, { $set: { 'payload.consumed': Math.floor(Date.now() / 1000) } });
    }
    async destroy(id: string): Promise<void> {
      await store.deleteOne({ _id: this.key(id) });
    }
    async revokeByGrantId(): Promise<void> {}
    async findByUid(): Promise<undefined> {}
    async findByUserCode(): Promise<undefined> {}
  };
}
