import type { Config } from '../config.js';
import type { Logger } from '../log.js';
import { createFreshReads } from '../stores/fresh-reads.js';
import type { Mongo } from '../stores/mongo.js';
import type { ApiKeyReader } from './api-keys.js';
import { createLastUse, type LastUse } from './last-use.js';
import { createLoginThrottle, loginLimits, type LoginThrottle } from './login-throttle.js';
import { createExternalTokens, type ExternalTokens } from './external-tokens.js';
import { createPasswords, type Passwords } from './passwords.js';
import { createSecretBox, type SecretBox } from './secret-box.js';
import { createSessions, type Sessions } from './sessions.js';
import { createSigningKeys, type SigningKeys } from './signing-keys.js';
import { createStatementSigner, createTokens, type StatementSigner, type Tokens } from './tokens.js';

/** The services that create and check credentials. */
export interface Auth {
  box: SecretBox;
  keys: SigningKeys;
  tokens: Tokens;
  statements: StatementSigner;
  sessions: Sessions;
  readKey: ApiKeyReader;
  keyUse: LastUse;
  throttle: LoginThrottle;
  passwords: Passwords;
  externalTokens: ExternalTokens | undefined;
}

/** The dependencies of the operations in this folder, a subset of `Deps`. */
export interface AuthDeps {
  mongo: Pick<Mongo, 'collections'>;
  log: Logger;
  auth: Auth;
}

/**
 * The issuer if no public address is configured. It has no port, so that processes on different ports accept each
 * other's tokens.
 */
const localIssuer = 'http://localhost';

/**
 * @throws Error in production without `SECRETS_KEY`, and if the external identity provider is only partly configured
 */
export function createAuth({
  config,
  mongo,
  log,
}: {
  config: Config;
  mongo: Pick<Mongo, 'collections'>;
  log: Logger;
}): Auth {
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
    keyUse: createLastUse(collections.api_keys, log),
    throttle: createLoginThrottle(collections, loginLimits(config.signIn)),
    passwords: createPasswords(),
    externalTokens: createExternalTokens(config.userTokens, tokens.audience),
  };
}
