import type { Request, Response } from 'express';
import type { DeviceRequests } from '../../../auth/oauth/device-requests.js';
import type { Deps } from '../../../domain/deps.js';
import type { BrowserSession, BrowserSessions } from '../../browser/browser-session.js';
import type { RateLimit } from '../rate-limit.js';

export interface DevicePageDeps {
  deps: Deps;
  devices: DeviceRequests;
  /** Limits how many codes an address and a person can try (RFC 8628, 5.1). */
  enteredCodes: RateLimit;
  browsers: BrowserSessions;
  baseUrl(): string;
}

export type Person = NonNullable<BrowserSession['person']>;

/** The state of one request to the page. */
export interface DeviceVisit extends DevicePageDeps {
  req: Request;
  res: Response;
  session: BrowserSession;
  /** The code in the address of the page, as it was entered; empty without one. */
  code: string;
}
