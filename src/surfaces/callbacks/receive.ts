import { setImmediate } from 'node:timers/promises';
import type { Request, RequestHandler, Response } from 'express';
import { discardRest } from '../../http/discard-rest.js';
import { methodNotAllowed } from '../../http/method-not-allowed.js';
import type { Deliveries } from '../../domain/connectors/deliveries.js';
import { createByteBudget, readRawBody } from './raw-body.js';
import type { Acknowledgement, Delivery, HeaderReader, Receiver } from './receiver.js';
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

/**
 * Processes requests in the same order for every receiver: path → method → admission → raw body → verify → deduplicate
 * → hand over. Uses the unmodified request target. Requests for other paths continue to the rest of the application.
 */
export function createReceive({ receivers, deliveries, bodyLimit, observe }: ReceiveOptions): RequestHandler {
  const targetOf = createTargets(receivers);
  const verifiedBudget = createByteBudget(bodyLimit * maxBodies.verified);
  const openBudget = createByteBudget(bodyLimit * maxBodies.open);

  async function receive(receiver: Receiver, params: Record<string, string>, req: Request): Promise<Acknowledgement> {
    if (req.method !== 'POST') throw methodNotAllowed('POST');
    const header: HeaderReader = (name) => req.get(name);
    receiver.admit?.(header);
    const budget = receiver.isOpen ? openBudget : verifiedBudget;
    const body = await readRawBody(req, Math.min(bodyLimit, receiver.bodyLimit ?? bodyLimit), budget);
    try {
      const delivery: Delivery = { params, header, body };
      // Copying a large body takes about 50 ms and each hash 25 ms, so run them in separate turns of the event loop.
      const isLarge = body.length > largeBytes;
      if (isLarge) await setImmediate();
      await receiver.verify?.(delivery);
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

function answer(res: Response, { status, body }: Acknowledgement): void {
  if (body === null) return void res.writeHead(status).end();
  const text = JSON.stringify(body);
  res
    .writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(text) })
    .end(text);
}
