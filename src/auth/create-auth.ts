import type { Config } from '../config.js';
import type { Logger } from '../log.js';
import { createFreshReads } from '../stores/fresh-reads.js';
import type { Mongo } from '../stores/mongo.js';
import { createApiKeyUse, type ApiKeyUse } from './api-key-use.js';
import type { ApiKeyReader } from './api-keys.js';
import { createLoginThrottle, type LoginThrottle } from './login-throttle.js';
import { createOutsideTokens, type OutsideTokens } from './outside-tokens.js';
import { createSecretBox, type SecretBox } from './secret-box.js';
import { createSessions, type Sessions } from './sessions.js';
import { createSigningKeys, type SigningKeys } from './signing-keys.js';
import { createStatementSigner, createTokens, type StatementSigner, type Tokens } from './tokens.js';

/** Everything that credentials are made and checked with. */
export interface Auth {
  box: SecretBox;
  keys: SigningKeys;
  tokens: Tokens;
  statements: StatementSigner;
  sessions: Sessions;
  readKey: ApiKeyReader;
  keyUse: ApiKeyUse;
  throttle: LoginThrottle;
  outsideTokens: OutsideTokens | undefined;
}

/** What the operations of this folder take; the product's `Deps` has it. */
export interface AuthDeps {
  mongo: Pick<Mongo, 'collections'>;
  log: Logger;
  auth: Auth;
}

/** Where no public address is configured, processes on different ports must still take each other's tokens. */
const localIssuer = 'http://localhost';

/** @throws Error in production without SECRETS_KEY, and for half a configuration of the outside identity provider */
export function createAuth({ config, mongo, log }: { config: Config; mongo: Pick<Mongo, 'collections'>; log: Logger }): Auth {
  const { collections } = mongo;
  const box = createSecretBox(config);
  const keys = createSigningKeys({ collections, box });
  const tokens = createTokens(keys, config.baseUrl ?? localIssuer);
  return {
    box,
    keys,
    tokens,
    statements: createStatementSigner(keys),
    sessions: createSessions({ collections, box, log }),
    readKey: createFreshReads(collections.api_keys),
    keyUse: createApiKeyUse(collections, log),
    throttle: createLoginThrottle(collections),
    outsideTokens: createOutsideTokens(config.userTokens, tokens.audience),
  };
}
