import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import type { RequestHandler } from 'express';
import { AppError } from '../../errors.js';

export interface RebindingOptions {
  baseUrl(): string;
  allowLocalhost: boolean;
}

/**
 * A page of any site can make a browser send requests to a name that it lets point here; its Host and Origin tell
 * (MCP, Streamable HTTP: security warning). Programs that are no browsers send no Origin.
 */
export function refuseRebinding({ baseUrl, allowLocalhost }: RebindingOptions): RequestHandler {
  return (req, _res, next) => {
    const { hostname } = new URL(baseUrl());
    const allowed = [hostname, ...(allowLocalhost ? localhostAllowedHostnames() : [])];
    const host = validateHostHeader(req.headers.host, allowed);
    if (!host.ok) throw new AppError('access_denied', `the Host header names another service than ${hostname}`);
    const origin = validateOriginHeader(req.headers.origin, allowed);
    if (!origin.ok) throw new AppError('access_denied', 'requests of this Origin are not taken');
    next();
  };
}
