import { setImmediate } from 'node:timers/promises';
import type { Request, RequestHandler, Response } from 'express';
import { discardRest } from '../../http/discard-rest.js';
import { notFound } from '../../base/errors.js';
import { methodNotAllowed } from '../../http/method-not-allowed.js';
import type { Deliveries } from '../../domain/connectors/deliveries.js';
import { createByteBudget, readRawBody } from './raw-body.js';
import { challengeInBody, challengeInQuery } from './challenge.js';
import type { Acknowledgement, Delivery, Echo, HeaderReader, Receiver } from './receiver.js';
import { createTargets } from './target.js';

interface ReceiveOptions {
  receivers: readonly Receiver[];
  deliveries: Deliveries;
  /** The maximum body size in bytes. */
  bodyLimit: number;
  /** Called for each response. The downstream listener does not set it. */
  observe?: (receiver: string, status: number) => void;
}

/** The number of bodies of maximum size that are held concurrently, for verified and for open receivers. */
const maxBodies = { verified: 10, open: 4 };
const largeBytes = 1024 * 1024;
const duplicate: Acknowledgement = { status: 200, body: { status: 'duplicate' } };
const ready: Acknowledgement = { status: 200, body: { status: 'ready' } };

/**
 * Processes requests in the same order for every receiver: path → method → admission → raw body → verify → deduplicate
 * → hand over. Senders that check an address get their own token, and nothing is processed. Uses the unmodified request
 * target. Requests for other paths continue to the rest of the application.
 */
export function createReceive({ receivers, deliveries, bodyLimit, observe }: ReceiveOptions): RequestHandler {
  const targetOf = createTargets(receivers);
  const verifiedBudget = createByteBudget(bodyLimit * maxBodies.verified);
  const openBudget = createByteBudget(bodyLimit * maxBodies.open);

  async function receive(
    receiver: Receiver,
    params: Record<string, string>,
    req: Request,
  ): Promise<Acknowledgement | Echo> {
    const isChecked = receiver.isRegistered !== undefined;
    if (isChecked && ['GET', 'HEAD'].includes(req.method))
      return answerCheck(receiver, params, challengeInQuery(req.originalUrl));
    if (!['POST', 'PUT'].includes(req.method)) throw methodNotAllowed(isChecked ? 'GET, HEAD, POST, PUT' : 'POST, PUT');
    const header: HeaderReader = (name) => req.get(name);
    receiver.admit?.(header);
    const budget = receiver.isOpen ? openBudget : verifiedBudget;
    const body = await readRawBody(req, Math.min(bodyLimit, receiver.bodyLimit ?? bodyLimit), budget);
    try {
      const delivery: Delivery = { params, header, body };
      const asked = isChecked && body.length === 0 ? challengeInQuery(req.originalUrl) : undefined;
      if (asked !== undefined) return await answerCheck(receiver, params, asked);
      // Copying a large body takes about 50 ms and each hash 25 ms, so run them in separate turns of the event loop.
      const isLarge = body.length > largeBytes;
      if (isLarge) await setImmediate();
      await receiver.verify?.(delivery);
      const challenge = isChecked ? challengeInBody(body) : undefined;
      if (challenge !== undefined) return await answerCheck(receiver, params, challenge);
      if (isLarge) await setImmediate();
      return await once(receiver, delivery);
    } finally {
      budget.give(body.length);
    }
  }

  async function once(receiver: Receiver, delivery: Delivery): Promise<Acknowledgement> {
    const id = receiver.deliveryId?.(delivery);
    if (id !== undefined && (await deliveries.seen(id))) return duplicate;
    const acknowledgement = await receiver.handOver(delivery);
    if (id !== undefined && acknowledgement.body?.status === 'accepted') await deliveries.remember(id);
    return acknowledgement;
  }

  return (req, res, next) => {
    const target = targetOf(req.originalUrl);
    if (!target) return next();
    res.locals.route = target.route.path;
    res.once('finish', () => observe?.(target.route.path, res.statusCode));
    receive(target.route, target.params, req)
      .then((acknowledgement) => answer(res, acknowledgement))
      .catch((error: unknown) => {
        next(error);
        discardRest(req, bodyLimit);
      });
  };
}

/** @throws AppError `not_found` if nothing takes callbacks at this address */
async function answerCheck(
  receiver: Receiver,
  params: Delivery['params'],
  token: string | undefined,
): Promise<Acknowledgement | Echo> {
  if (!(await receiver.isRegistered?.(params))) throw notFound('the address');
  return token === undefined ? ready : { status: 200, text: token };
}

/** The text comes from the caller, so no browser may take it for a page. */
const echoHeaders = {
  'Content-Type': 'text/plain; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
};

function answer(res: Response, given: Acknowledgement | Echo): void {
  if ('text' in given) {
    const { status, text } = given;
    return void res.writeHead(status, { ...echoHeaders, 'Content-Length': Buffer.byteLength(text) }).end(text);
  }
  const { status, body } = given;
  if (body === null) return void res.writeHead(status).end();
  const text = JSON.stringify(body);
  res
    .writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(text) })
    .end(text);
}
