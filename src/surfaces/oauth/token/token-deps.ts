import type { Audited } from '../../../auth/audit-port.js';
import type { AuthDeps } from '../../../auth/create-auth.js';
import type { Clients } from '../../../auth/oauth/clients.js';
import type { Codes } from '../../../auth/oauth/codes.js';
import type { DeviceRequests } from '../../../auth/oauth/device-requests.js';
import type { Grants } from '../../../auth/oauth/grants.js';
import type { AuthenticateClient } from '../clients/client-authentication.js';

export interface TokenDeps extends AuthDeps, Audited {
  authenticateClient: AuthenticateClient;
  clients: Clients;
  codes: Codes;
  devices: DeviceRequests;
  grants: Grants;
  baseUrl(): string;
}
