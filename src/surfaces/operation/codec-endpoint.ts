import { setImmediate } from 'node:timers/promises';
import { Router, type Request, type RequestHandler } from 'express';
import type { Payload } from '@temporalio/common';
import { z } from 'zod';
import { authenticateBearer } from '../../auth/authenticate-bearer.js';
import type { BrowserSessions } from '../browser/browser-session.js';
import { whileLive } from '../browser/sign-in.js';
import type { Deps } from '../../domain/deps.js';
import { AppError } from '../../base/errors.js';
import { mapValues } from '../../base/map-values.js';
import { jsonBody } from '../../http/json-body.js';
import { validate } from '../../base/validation.js';
import { decryptPayload, encryptPayload, organizationOf } from '../../temporal/payload-codec.js';

const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64');
const PayloadJson = z.object({ metadata: z.record(z.string(), base64).default({}), data: base64.default('') });
const Payloads = z.object({ payloads: z.array(PayloadJson).max(4000) });

type PayloadJson = z.infer<typeof PayloadJson>;

/** Decodes the JSON form of a payload. The conversion of protobufjs takes ten times as long. */
function fromJson({ metadata, data }: PayloadJson): Payload {
  return { metadata: mapValues(metadata, bytesOf), data: bytesOf(data) };
}

function toJson({ metadata, data }: Payload): PayloadJson {
  // A decoded payload without data has an empty array instead of bytes.
  return { metadata: mapValues(metadata ?? {}, base64Of), data: base64Of(Buffer.from(data ?? [])) };
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'base64');
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Fits a history page of the Temporal UI: Temporal sends at most 4 MiB, and base64 adds a third. */
const bodyLimit = '6mb';

/** The id of no workflow: workers do not obey what a person encodes. */
const noWorkflow = ['codec endpoint'] as const;

interface CodecEndpointDeps extends Pick<Deps, 'auth' | 'config' | 'log' | 'mongo' | 'oauth'> {
  baseUrl(): string;
  browsers: BrowserSessions;
}

/**
 * Serves Temporal's remote codec protocol (`POST …/decode`, `…/encode`) to the Temporal UI and CLI. A person signs in
 * at the console or sends a user token. They can read the histories of organizations in which they are OWNER or
 * ORG_ADMIN. Payloads of other organizations are returned unchanged.
 * @throws AppError `invalid_token` without a sign-in, `access_denied` without such a role, `validation_failed` for a
 * payload that cannot be decrypted
 */
export function createCodecEndpoint(deps: CodecEndpointDeps): Router {
  const { box } = deps.auth;
  const router = Router();
  router.use(corsFor(new URL(deps.config.temporal.uiUrl).origin));
  // Authorize before the body is parsed, so that only permitted people cause that work.
  const authorize: RequestHandler = async (req, res, next) => {
    res.locals.organizations = await readableBy(deps, req);
    next();
  };
  const serve = (path: string, work: (organizations: ReadonlySet<string>, payload: Payload, at: number) => Payload) =>
    router.post(path, authorize, ...jsonBody(bodyLimit), async (req, res) => {
      const organizations = res.locals.organizations as ReadonlySet<string>;
      const payloads: PayloadJson[] = [];
      for (const [at, json] of validate(Payloads, req.body, 'invalid_request').payloads.entries()) {
        // Decoding a whole page at once would block the event loop.
        await setImmediate();
        const payload = fromJson(json);
        await setImmediate();
        payloads.push(toJson(work(organizations, payload, at)));
      }
      await setImmediate();
      res.json({ payloads });
    });
  serve('/decode', (organizations, payload, at) => {
    if (!organizations.has(organizationOf(payload) ?? '')) return payload;
    try {
      return decryptPayload(box, payload);
    } catch (cause) {
      const problem = 'cannot be decrypted: it was changed, or SECRETS_KEY does not contain its key';
      throw new AppError('validation_failed', `payloads.${at} ${problem}`, { cause });
    }
  });
  serve('/encode', ([organizationId, ...others], payload) => {
    if (organizationId === undefined || others.length > 0)
      throw new AppError('invalid_request', 'encoding requires a person who administers exactly one organization');
    return encryptPayload(box, payload, organizationId, noWorkflow);
  });
  return router;
}

/** Returns the organizations whose histories the caller may read. */
async function readableBy(
  { browsers, baseUrl, ...deps }: CodecEndpointDeps,
  req: Request,
): Promise<ReadonlySet<string>> {
  const organizations = await deps.mongo.collections.memberships
    .find({
      user_id: await personOf({ ...deps, browsers, baseUrl }, req),
      project_id: null,
      role: { $in: ['OWNER', 'ORG_ADMIN'] },
    })
    .map(({ organization_id }) => organization_id)
    .toArray();
  if (organizations.length === 0)
    throw new AppError(
      'access_denied',
      'reading workflow histories requires the role OWNER or ORG_ADMIN in an organization',
    );
  return new Set(organizations);
}

async function personOf(deps: CodecEndpointDeps, req: Request): Promise<string> {
  if (req.get('authorization') === undefined) {
    const { person } = await whileLive(deps, deps.browsers.read(req));
    if (!person)
      throw new AppError('invalid_token', 'sign in at /console, or send a user token as `Authorization: Bearer`');
    return person.userId;
  }
  const { kind, clientId, userId, isExternal } = await authenticateBearer(
    deps,
    req.headersDistinct.authorization,
    deps.baseUrl(),
  );
  if (kind !== 'user_jwt' || clientId !== undefined || isExternal)
    throw new AppError('access_denied', 'reading workflow histories needs a user token of this service');
  return userId;
}

/**
 * Allows the Temporal UI to call from its own origin. Browsers send the console's cookie if both are on the same site.
 */
function corsFor(origin: string): RequestHandler {
  return (req, res, next) => {
    if (req.get('origin') === origin) {
      res.set({
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Allow-Credentials': 'true',
        'Cross-Origin-Resource-Policy': 'cross-origin',
        Vary: 'Origin',
      });
    }
    if (req.method !== 'OPTIONS') return next();
    res.set({
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-Namespace',
      'Access-Control-Max-Age': '3600',
    });
    res.status(204).end();
  };
}
