import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { CookieOptions, Request, Response } from 'express';
import { z } from 'zod';
import type { SecretBox } from '../../auth/secret-box.js';
import { OauthError } from '../oauth-error.js';

const purpose = 'oauth browser session';
/** A page that is left open for longer asks again who is there. */
const lifeSeconds = 3600;

const Sealed = z.object({
  csrf: z.string(),
  until: z.number(),
  person: z.object({ userId: z.string(), email: z.string(), sessionId: z.string() }).optional(),
});

/** A browser that has the page open: who is signed in there, and the secret that its forms must repeat. */
export type BrowserSession = z.infer<typeof Sealed>;

export interface BrowserSessions {
  /** A new one for a browser without a cookie of ours, or with one that is old or changed. */
  read(req: Request): BrowserSession;
  /** As `read`, for a form. @throws OauthError when the form does not repeat the cookie's secret: somebody else's page sent it */
  readForm(req: Request, csrf: string | null): BrowserSession;
  write(res: Response, session: Omit<BrowserSession, 'until'>): void;
}

/** The cookie is sealed: neither read nor made by anybody else, and useless to the API. */
export function createBrowserSessions(box: SecretBox, baseUrl: () => string): BrowserSessions {
  const isSecure = () => baseUrl().startsWith('https:');
  const cookieName = () => (isSecure() ? '__Host-svc_oauth' : 'svc_oauth');

  function present(req: Request): BrowserSession | undefined {
    const value = cookieOf(req, cookieName());
    const session = value === undefined ? undefined : opened(box, value);
    return session && session.until > Date.now() / 1000 ? session : undefined;
  }

  return {
    read: (req) => present(req) ?? { csrf: randomBytes(32).toString('base64url'), until: 0 },
    readForm(req, csrf) {
      const session = present(req);
      if (!session || csrf?.length !== session.csrf.length || !timingSafeEqual(Buffer.from(csrf), Buffer.from(session.csrf))) {
        throw new OauthError('access_denied', 'the page was open for too long, or was not sent from here; go back to the app and start again');
      }
      return session;
    },
    write(res, session) {
      const until = Date.now() / 1000 + lifeSeconds;
      // Lax, since people come here by a link from the client; a form of another site brings no cookie.
      const options: CookieOptions = { httpOnly: true, secure: isSecure(), sameSite: 'lax', path: '/' };
      res.cookie(cookieName(), box.seal(JSON.stringify({ ...session, until }), purpose), options);
    },
  };
}

function opened(box: SecretBox, sealed: string): BrowserSession | undefined {
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
