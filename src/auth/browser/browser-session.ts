import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { CookieOptions, Request, Response } from 'express';
import { z } from 'zod';
import { AppError } from '../../errors.js';
import type { SecretBox } from '../secret-box.js';

/** A page that is left open for longer asks again who is there. */
const lifeSeconds = 3600;

const Sealed = z.object({
  csrf: z.string(),
  until: z.number(),
  person: z.object({ userId: z.string(), email: z.string(), sessionId: z.string() }).optional(),
});

/** A browser that has the page open: who is signed in there, and the secret that its forms must repeat. */
export type BrowserSession = z.infer<typeof Sealed>;

export interface BrowserSessionOptions {
  /** Under this name, which is `__Host-` where the service is reached by https. */
  cookie: string;
  /** `lax` where people come by a link from another site, `strict` where nobody has to. */
  sameSite: 'lax' | 'strict';
  baseUrl(): string;
}

export interface BrowserSessions {
  /** A new one for a browser without a cookie of ours, or with one that is old or changed. */
  read(req: Request): BrowserSession;
  /** As `read`, for a form. @throws AppError `access_denied` when the form does not repeat the cookie's secret: somebody else's page sent it */
  readForm(req: Request, csrf: string | null): BrowserSession;
  write(res: Response, session: Omit<BrowserSession, 'until'>): void;
}

/** The cookie is sealed: neither read nor made by anybody else, and useless to the API. */
export function createBrowserSessions(box: SecretBox, { cookie, sameSite, baseUrl }: BrowserSessionOptions): BrowserSessions {
  const purpose = `${cookie} browser session`;
  const isSecure = () => baseUrl().startsWith('https:');
  const cookieName = () => (isSecure() ? `__Host-${cookie}` : cookie);

  function present(req: Request): BrowserSession | undefined {
    const value = cookieOf(req, cookieName());
    const session = value === undefined ? undefined : opened(box, value, purpose);
    return session && session.until > Date.now() / 1000 ? session : undefined;
  }

  return {
    read: (req) => present(req) ?? { csrf: randomBytes(32).toString('base64url'), until: 0 },
    readForm(req, csrf) {
      const session = present(req);
      if (!session || csrf?.length !== session.csrf.length || !timingSafeEqual(Buffer.from(csrf), Buffer.from(session.csrf))) {
        throw new AppError('access_denied', 'the page was open for too long, or its form was not sent from here');
      }
      return session;
    },
    write(res, session) {
      const until = Date.now() / 1000 + lifeSeconds;
      // Either way a form of another site brings no cookie.
      const options: CookieOptions = { httpOnly: true, secure: isSecure(), sameSite, path: '/' };
      res.cookie(cookieName(), box.seal(JSON.stringify({ ...session, until }), purpose), options);
    },
  };
}

function opened(box: SecretBox, sealed: string, purpose: string): BrowserSession | undefined {
  try {
    return Sealed.parse(JSON.parse(box.open(sealed, purpose)));
  } catch {
    return undefined;
  }
}

function cookieOf(req: Request, name: string): string | undefined {
  const pairs = (req.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const found = pairs.find((pair) => pair.startsWith(`${name}=`));
  return found === undefined ? undefined : decodeOrNothing(found.slice(name.length + 1));
}

function decodeOrNothing(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
