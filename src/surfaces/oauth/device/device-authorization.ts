import type { RequestHandler } from 'express';
import { gcsClient } from '../../../auth/oauth/clients.js';
import { requestSeconds, shownUserCode, type DeviceRequests } from '../../../auth/oauth/device-requests.js';
import { ProjectId } from '../../../base/ids.js';
import type { AuthenticateClient } from '../clients/client-authentication.js';
import { displayName } from '../clients/client-metadata.js';
import { formOf, singleFields } from '../form-body.js';
import { OauthError } from '../oauth-error.js';
import type { RateLimit } from '../rate-limit.js';

interface DeviceAuthorizationDeps {
  authenticateClient: AuthenticateClient;
  devices: DeviceRequests;
  requests: RateLimit;
  baseUrl(): string;
}

/** The page on which people enter codes. */
export const devicePath = '/oauth/device';

/**
 * Serves the device authorization endpoint (RFC 8628, 3.1 and 3.2). Besides `client_id`, it reads `device_name` and the
 * preferred `project_id`. `scope` is ignored: the person sees what a key of `gcs` may do.
 */
export function deviceAuthorizationHandler(deps: DeviceAuthorizationDeps): RequestHandler {
  return async (req, res) => {
    const fields = singleFields(formOf(req));
    const client = await deps.authenticateClient(req, fields);
    if (client._id !== gcsClient._id)
      throw new OauthError('unauthorized_client', `only the client ${gcsClient._id} can use device authorization`);
    await deps.requests.take(req.ip ?? '');
    const project = ProjectId.min(1).safeParse(fields.get('project_id'));
    const { deviceCode, request } = await deps.devices.open({
      client_id: client._id,
      device_name: displayName(fields.get('device_name') ?? ''),
      address: req.ip ?? '',
      ...(project.success && { project_id: project.data }),
    });
    const userCode = shownUserCode(request.user_code);
    const page = deps.baseUrl() + devicePath;
    res
      .set('Cache-Control', 'no-store')
      .json({
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: page,
        verification_uri_complete: `${page}?user_code=${userCode}`,
        expires_in: requestSeconds,
        interval: request.interval,
      });
  };
}
