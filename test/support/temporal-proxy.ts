import { connect, createServer, constants, type ServerHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';

const service = '/temporal.api.workflowservice.v1.WorkflowService/';

export interface TemporalProxy {
  /** The address as in `TEMPORAL_ADDRESS`. */
  address: string;
  /** Refuses the next `count` calls of a method with a status code of gRPC, before Temporal sees them. */
  refuse(method: string, code: number, count: number): void;
  /** The number of calls of a method so far. */
  calls(method: string): number;
  close(): void;
}

/** Forwards gRPC calls to Temporal, except those that a test lets fail. */
export async function startTemporalProxy(target: string): Promise<TemporalProxy> {
  const refusals = new Map<string, { code: number; left: number }>();
  const calls = new Map<string, number>();
  const upstream = connect(`http://${target}`);
  upstream.on('error', () => undefined);
  const server = createServer();
  server.on('session', (session) => session.on('error', () => undefined));
  server.on('stream', (stream, headers) => {
    const method = String(headers[constants.HTTP2_HEADER_PATH] ?? '').replace(service, '');
    calls.set(method, (calls.get(method) ?? 0) + 1);
    const refusal = refusals.get(method);
    if (!refusal || refusal.left === 0) return forward(stream, headers);
    refusal.left -= 1;
    const refused = { 'grpc-status': String(refusal.code), 'grpc-message': 'refused by a test' };
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...refused }, { endStream: true });
  });

  function forward(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const call = upstream.request(headers);
    let trailers: IncomingHttpHeaders = {};
    call.on('response', (answer, flags) => {
      const isAll = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      stream.respond(answer, { endStream: isAll, waitForTrailers: !isAll });
    });
    call.on('trailers', (received) => (trailers = received));
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.on('close', () => call.close());
    for (const each of [stream, call]) each.on('error', () => undefined);
    stream.pipe(call);
    call.pipe(stream);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    refuse: (method, code, count) => void refusals.set(method, { code, left: count }),
    calls: (method) => calls.get(method) ?? 0,
    close() {
      upstream.destroy();
      server.close();
    },
  };
}
