import { createHmac } from 'node:crypto';
import { Agent, createServer, request, type Server } from 'node:http';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '../src/base/ids.js';
import { listen } from '../test/support/ports.js';
import { startApi, startScript, type Api } from '../test/support/processes.js';
import type { BenchEnvironment } from './environment.js';
import { residentMiB } from './processes.js';
import { figure, inTurns, medians, percentile, perSecond, range, type Figure } from './measure.js';

const secret = 'bench secret';
const callers = 20;
export const callbackBody = JSON.stringify({ event: 'call_ended', id: 'x'.repeat(200) });

/**
 * Compares the receivers with a bare forwarder in its own process. Also measures the responses to a burst, and the
 * memory while responses are held open.
 */
export async function benchCallbacks(bench: BenchEnvironment): Promise<Figure[]> {
  const upstream = createUpstream();
  const { port, url, close } = await listen(upstream);
  const { projectID } = await bench.workspace();
  const env = {
    ...bench.env,
    DOWNSTREAM_PORT: '0',
    CALLBACK_DOWNSTREAM_URL: url,
    CATALOG_WEBHOOK_SECRET: secret,
    CATALOG_PROJECT_ID: projectID,
  };
  const logs = bench.env.DATA_DIR ?? '.';
  const api = await startApi(env, path.join(logs, 'callbacks-api.log'));
  const target = { TARGET_PORT: String(port) };
  const bare = await startScript('bench/bare/forwarder.js', target, path.join(logs, 'forwarder.log'), 'listening');
  try {
    return [await forwardRates(api, Number(bare.up.port)), ...(await burst(api)), await held(api, upstream)];
  } finally {
    await Promise.all([api.end(), bare.end(), close()]);
  }
}

/** Creates the service that accepts forwarded callbacks. */
export function createUpstream(): Server {
  return createServer((_req, res) =>
    res.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"accepted"}'),
  );
}

async function forwardRates(api: Api, barePort: number): Promise<Figure> {
  const rates = await inTurns(
    5,
    () => rate(api.port),
    () => rate(barePort),
  );
  return medians('forwarded callbacks', '/s', rates, 'at least 0.8');
}

async function rate(port: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const found = await perSecond(1500, callers, () => post(agent, port, '/voice-provider/bench', callbackBody));
  agent.destroy();
  return found;
}

async function burst(api: Api): Promise<Figure[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const times: number[] = [];
  const event = JSON.stringify({
    eventType: 'entityUpdated',
    entityType: 'table',
    entityId: newId(),
    entityFQN: 'a.b',
    changeType: 'x',
    timestamp: 1,
  });
  const signature = createHmac('sha256', secret).update(event).digest('hex');
  const rate = await perSecond(5000, callers, async () => {
    const sent = performance.now();
    const status = await post(agent, api.port, '/v1/catalog/om/webhook', event, { 'x-om-signature': signature });
    if (status !== 202) throw new Error(`the burst was answered with ${status}`);
    times.push(performance.now() - sent);
  });
  agent.destroy();
  return [
    figure('202 answers in a burst', '/s', rate, Number.NaN, 'none'),
    figure('202 answers, 99th percentile', 'ms', percentile(times, 0.99), Number.NaN, 'none'),
  ];
}

/** Compares the memory before with the memory while 200 responses are held open for as long as the deadline allows. */
async function held(api: Api, upstream: Server): Promise<Figure> {
  const release: (() => void)[] = [];
  upstream.removeAllListeners('request').on('request', (req, res) => {
    req.resume();
    release.push(() => res.writeHead(202).end());
  });
  const agent = new Agent({ keepAlive: false });
  const before = residentMiB(api.child.pid ?? 0);
  const waiting = range(200).map(() => post(agent, api.port, '/media-provider/bench', callbackBody));
  while (release.length < 200) await delay(20);
  const samples: number[] = [];
  for (let at = 0; at < 20; at += 1) {
    samples.push(residentMiB(api.child.pid ?? 0));
    await delay(500);
  }
  for (const each of release) each();
  await Promise.all(waiting);
  return figure('memory with 200 answers held open', 'MiB', Math.max(...samples), before, 'flat');
}

export function post(
  agent: Agent,
  port: number,
  to: string,
  text: string,
  headers: Record<string, string> = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const all = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers };
    const req = request({ agent, port, host: '127.0.0.1', method: 'POST', path: to, headers: all }, (res) => {
      res.resume().on('end', () => resolve(res.statusCode ?? 0));
    });
    req.on('error', reject).end(text);
  });
}
