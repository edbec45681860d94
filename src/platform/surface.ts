import { apiKeyRefused, authenticateApiKey } from '../auth/api-keys.js';
import type { Deps } from '../deps.js';
import { AppError } from '../errors.js';
import type { SurfaceRules } from '../http/mount.js';
import { checkProjectScope } from './scope.js';

/** The platform API takes `x-api-key` (specification, Platform API). */
export function platformSurface({ idempotency, config, auth }: Deps): SurfaceRules {
  return {
    async authenticate(req) {
      const secret = req.get('x-api-key');
      if (secret === undefined) throw new AppError('invalid_token', 'missing x-api-key credential');
      if (secret.length > 200) throw new AppError('invalid_token', apiKeyRefused);
      return authenticateApiKey(auth.readKey, secret, auth.keyUse);
    },
    checkScope: checkProjectScope,
    idempotency,
    verifyResponses: config.environment === 'test',
  };
}
