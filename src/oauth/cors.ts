import type { RequestHandler } from 'express';

/**
 * Lets clients that run in a browser call the endpoints that need no cookie, from any origin (RFC 9700, 2.6); never the
 * authorization endpoint, and never with credentials.
 */
export function openCors(methods: string): RequestHandler {
  return (req, res, next) => {
    res.set('Access-Control-Allow-Origin', '*');
    res.set('Access-Control-Expose-Headers', 'WWW-Authenticate, Retry-After');
    res.set('Cross-Origin-Resource-Policy', 'cross-origin');
    if (req.method !== 'OPTIONS') {
      next();
      return;
    }
    res.set('Access-Control-Allow-Methods', methods);
    res.set('Access-Control-Allow-Headers', 'Authorization, Content-Type, MCP-Protocol-Version');
    res.set('Access-Control-Max-Age', '3600').status(204).end();
  };
}
