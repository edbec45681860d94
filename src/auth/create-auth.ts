import type { Config } from '../config.js';
import type { Logger } from '../log.js';
import { createFreshReads } from '../stores/fresh-reads.js';
import type { Mongo } from '../stores/mongo.js';
import { createLastUse } from './last-use.js';
import { createLoginThrottle, loginLimits } from './login-throttle.js';
import { createExternalTokens } from './external-tokens.js';
import { createPasswords } from './passwords.js';
import { createSecretBox } from './secret-box.js';
import { createSessions } from './sessions.js';
import { createSigningKeys } from './signing-keys.js';
import { createStatementSigner, createTokens } from './tokens.js';

export type Auth = ReturnType<typeof createAuth>;

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
 * The services that create and check credentials.
 * @throws Error in production without `SECRETS_KEY`, and if the external identity provider is only partly configured
 */
export function createAuth({ config, mongo, log }: { config: Config; mongo: Pick<Mongo, 'collections'>; log: Logger }) {
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
    /** Reads the current record of a hash. */
    readKey: createFreshReads(collections.api_keys),
    keyUse: createLastUse(collections.api_keys, log),
    throttle: createLoginThrottle(collections, loginLimits(config.signIn)),
    passwords: createPasswords(),
    externalTokens: createExternalTokens(config.userTokens, tokens.audience),
  };
}
