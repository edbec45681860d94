import { once } from 'node:events';
import {
  connect,
  constants,
  createSecureServer,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Authority, Certificate } from './certificates.js';

export interface SecuredTemporal {
  /** `localhost:<port>`. */
  address: string;
  /** The number of accepted calls, and of calls refused because of their API key. */
  calls: { passed: number; refused: number };
  close(): void;
}

interface Demands {
  server: Certificate;
  /** Connections need a client certificate of this authority. */
  clients: Authority;
  /** Calls need this key as `authorization: Bearer …`. */
  apiKey: string;
}

/**
 * The front end of a secured Temporal: it terminates mutual TLS, checks the API key of each gRPC call, and forwards the call
 * unchanged to the real server, as the front end of Temporal Cloud does.
 */
export async function secureTemporal(
  target: string,
  { server: own, clients, apiKey }: Demands,
): Promise<SecuredTemporal> {
  const calls = { passed: 0, refused: 0 };
  const behind = connect(`http://${target}`);
  behind.on('error', () => undefined);
  const front = createSecureServer({
    key: own.key,
    cert: own.cert,
    ca: clients.cert,
    requestCert: true,
    rejectUnauthorized: true,
  });
  const sessions = new Set<ServerHttp2Session>();
  front.on('session', (session) => {
    sessions.add(session);
  });
  front.on('stream', (stream, headers) => {
    const trusted = headers.authorization === `Bearer ${apiKey}`;
    calls[trusted ? 'passed' : 'refused'] += 1;
    if (trusted) forward(stream, behind.request(headers));
    else
      stream.respond(
        {
          ':status': 200,
          'content-type': 'application/grpc',
          'grpc-status': '16',
          'grpc-message': 'Request unauthorized.',
        },
        { endStream: true },
      );
  });
  front.listen(0, 'localhost');
  await once(front, 'listening');
  return {
    address: `localhost:${(front.address() as AddressInfo).port}`,
    calls,
    close() {
      for (const session of sessions) session.destroy();
      front.close();
      behind.destroy();
    },
  };
}

function forward(stream: ServerHttp2Stream, call: ClientHttp2Stream): void {
  let trailers: IncomingHttpHeaders = {};
  stream.pipe(call);
  call.on('trailers', (received) => (trailers = received));
  call.on('response', (answer, flags) => {
    if (stream.destroyed) return;
    const ended = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.respond(answer, ended ? { endStream: true } : { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    if (!ended) call.pipe(stream);
  });
  // A call that one side cancels is cancelled on the other side.
  stream.on('close', () => call.close(constants.NGHTTP2_CANCEL));
  stream.on('error', () => undefined);
  call.on('error', () => stream.close(constants.NGHTTP2_CANCEL));
}
