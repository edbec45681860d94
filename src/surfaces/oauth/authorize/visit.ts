import type { Request, Response } from 'express';
import type { Audited } from '../../../auth/audit-port.js';
import type { AuthDeps } from '../../../auth/create-auth.js';
import type { FindClient } from '../clients/client-document.js';
import type { Clients } from '../../../auth/oauth/clients.js';
import type { Codes } from '../../../auth/oauth/codes.js';
import { type AuthorizationRequest } from './authorization-request.js';
import type { BrowserSession, BrowserSessions } from '../../browser/browser-session.js';

export interface AuthorizeDeps extends AuthDeps, Audited {
  clients: Clients;
  codes: Codes;
  findClient: FindClient;
  browsers: BrowserSessions;
  baseUrl(): string;
}

/**
 * The state of one request to the page. Forms are sent to the page's own URL, so each request reads the authorization
 * request again.
 */
export interface Visit {
  deps: AuthorizeDeps;
  req: Request;
  res: Response;
  request: AuthorizationRequest;
  session: BrowserSession;
  /** The URL of the page, to which its forms are sent. */
  page: string;
}
