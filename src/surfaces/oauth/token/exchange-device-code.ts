import { isLiveKey } from '../../../auth/api-keys.js';
import type { OauthClientDocument } from '../../../auth/oauth/clients.js';
import { isAnswerable, keySecretOf } from '../../../auth/oauth/device-requests.js';
import { requiredField } from '../form-body.js';
import { OauthError } from '../oauth-error.js';
import type { TokenDeps } from './token-deps.js';

/**
 * Exchanges a device code (RFC 8628, 3.4 and 3.5) for the API key that a person has allowed. A program that lost the
 * answer may ask again: as long as the code is valid, it gets the same key.
 * @throws OauthError `authorization_pending`, `slow_down`, `access_denied`, `expired_token` or `invalid_grant`
 */
export async function exchangeDeviceCode(
  { devices, mongo }: TokenDeps,
  client: OauthClientDocument,
  fields: ReadonlyMap<string, string>,
  now: number,
): Promise<object> {
  const deviceCode = requiredField(fields, 'device_code');
  const request = await devices.findByDeviceCode(deviceCode);
  if (request?.client_id !== client._id)
    throw new OauthError('invalid_grant', 'the device code is not valid for this client');
  if (request.answer === 'denied') throw denied('the person denied the request');
  if (!isAnswerable(request)) throw new OauthError('expired_token', 'nobody allowed the request in time');
  if (request.answer === undefined) {
    if (!(await devices.isPollInTime(request._id)))
      throw new OauthError('slow_down', 'the requests come too fast: wait 5 more seconds between them');
    throw new OauthError('authorization_pending', request.note ?? 'the person has not answered yet');
  }
  const key = await mongo.collections.api_keys.findOne({ _id: request.key_hash });
  if (!key || !isLiveKey(key)) throw denied('the API key was revoked');
  return {
    access_token: keySecretOf(deviceCode),
    token_type: 'Bearer',
    expires_in: Math.floor((key.expires_at ?? now) - now),
    scope: key.scope.grants.join(' '),
    project_id: key.scope.project_id,
  };
}

function denied(description: string): OauthError {
  return new OauthError('access_denied', description, { status: 400 });
}
