import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import type { RequestHandler } from 'express';
import { AppError } from '../../base/errors.js';

interface RebindingOptions {
  baseUrl(): string;
  allowLocalhost: boolean;
  /** The origins whose pages may call this service (CORS_ORIGINS). */
  origins: readonly string[];
}

/**
 * Prevents DNS rebinding: a page of any site can resolve a name to this address and make the browser send requests to
 * it. The Host and Origin headers reveal such requests (MCP, Streamable HTTP: security warning). Clients other than
 * browsers send no Origin.
 */
export function refuseRebinding({ baseUrl, allowLocalhost, origins }: RebindingOptions): RequestHandler {
  return (req, _res, next) => {
    const { hostname } = new URL(baseUrl());
    const allowed = [hostname, ...(allowLocalhost ? localhostAllowedHostnames() : [])];
    const host = validateHostHeader(req.headers.host, allowed);
    if (!host.ok) throw new AppError('access_denied', `the Host header must name ${hostname}`);
    const isListed = origins.includes('*') || origins.includes(req.headers.origin ?? '');
    if (!isListed && !validateOriginHeader(req.headers.origin, allowed).ok)
      throw new AppError('access_denied', 'requests from this Origin are not allowed');
    next();
  };
}
