import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { CookieOptions, Request, Response } from 'express';
import { z } from 'zod';
import { AppError } from '../../base/errors.js';
import type { SecretBox } from '../../auth/secret-box.js';

/** A browser session expires after this time, and an open page asks the person to sign in again. */
const lifeSeconds = 3600;

const Sealed = z.object({
  csrf: z.string(),
  until: z.number(),
  person: z.object({ userId: z.string(), email: z.string(), sessionId: z.string() }).optional(),
});

/** The state that the cookie holds: the signed-in person and the CSRF secret, which each form must send back. */
export type BrowserSession = z.infer<typeof Sealed>;

interface BrowserSessionOptions {
  /** The name of the cookie. It gets the prefix `__Host-` if the service uses HTTPS. */
  cookie: string;
  /** `lax` for pages that people open by a link on another site, otherwise `strict`. */
  sameSite: 'lax' | 'strict';
  baseUrl(): string;
}

export interface BrowserSessions {
  /** Reads the session. Creates a new one if the cookie is missing, expired or forged. */
  read(req: Request): BrowserSession;
  /**
   * Reads the session for a submitted form.
   * @throws AppError `access_denied` if the form does not send the session's CSRF secret, because then another site
   * sent it
   */
  readForm(req: Request, csrf: string | null): BrowserSession;
  write(res: Response, session: Omit<BrowserSession, 'until'>): void;
}

/** Creates the sessions of the console, which the codec endpoint of the Temporal UI also reads. */
export function createConsoleSessions(box: SecretBox, baseUrl: () => string): BrowserSessions {
  return createBrowserSessions(box, { cookie: 'svc_console', sameSite: 'strict', baseUrl });
}

/** Keeps each session in an encrypted cookie, so that nobody else can read or forge it. */
export function createBrowserSessions(
  box: SecretBox,
  { cookie, sameSite, baseUrl }: BrowserSessionOptions,
): BrowserSessions {
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
      if (!session || !repeatsSecret(session, csrf))
        throw new AppError('access_denied', 'the page was open for too long, or another site sent its form');
      return session;
    },
    write(res, session) {
      const until = Date.now() / 1000 + lifeSeconds;
      // Browsers do not send the cookie with forms of other sites, neither for `lax` nor for `strict`.
      const options: CookieOptions = { httpOnly: true, secure: isSecure(), sameSite, path: '/' };
      res.cookie(cookieName(), box.seal(JSON.stringify({ ...session, until }), purpose), options);
    },
  };
}

/** Returns whether the sender knows the CSRF secret of the session, which only pages of this service can read. */
export function repeatsSecret({ csrf }: Pick<BrowserSession, 'csrf'>, token: string | null | undefined): boolean {
  const [sent, expected] = [Buffer.from(token ?? ''), Buffer.from(csrf)];
  return sent.length === expected.length && timingSafeEqual(sent, expected);
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
