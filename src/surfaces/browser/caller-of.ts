import type { Request } from 'express';
import type { Login } from '../../auth/sign-in.js';

const maxUserAgentLength = 500;

/** Who sends a request: its network address and its program. */
export function callerOf(req: Request): Pick<Login, 'address' | 'userAgent'> {
  return { address: req.ip ?? '', userAgent: req.get('user-agent')?.slice(0, maxUserAgentLength) ?? null };
}
