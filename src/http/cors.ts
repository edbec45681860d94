import type { RequestHandler } from 'express';

interface CorsOptions {
  /** `*` allows every origin. */
  origins: readonly string[];
  methods: string;
}

const allowedHeaders =
  'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID, X-Service-Workspace, X-Resume-Token';
const exposedHeaders = 'WWW-Authenticate, Retry-After, Mcp-Session-Id, MCP-Protocol-Version';

/**
 * Allows pages of these origins to call an endpoint that needs no cookie (RFC 9700, 2.6). Never allows credentials.
 * Do not use it for the authorization endpoint.
 */
export function cors({ origins, methods }: CorsOptions): RequestHandler {
  const isOpen = origins.includes('*');
  return (req, res, next) => {
    const origin = req.get('origin');
    if (!isOpen) res.vary('Origin');
    if (isOpen || (origin !== undefined && origins.includes(origin))) {
      res.set('Access-Control-Allow-Origin', isOpen ? '*' : origin);
      res.set('Access-Control-Expose-Headers', exposedHeaders);
      res.set('Cross-Origin-Resource-Policy', 'cross-origin');
      res.set('Access-Control-Allow-Methods', methods);
      res.set('Access-Control-Allow-Headers', allowedHeaders);
      res.set('Access-Control-Max-Age', '3600');
    }
    if (req.method === 'OPTIONS') res.status(204).end();
    else next();
  };
}
