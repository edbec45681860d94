import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The baseline of forwarded callbacks: streams both bodies to and from the port in `TARGET_PORT`, without checks or a
 * log.
 */
const agent = new Agent({ keepAlive: true });
const server = createServer((req, res) => {
  const headers = { 'content-type': req.headers['content-type'], 'content-length': req.headers['content-length'] };
  const target = { agent, port: Number(process.env.TARGET_PORT), host: '127.0.0.1', method: 'POST', path: req.url };
  const out = request({ ...target, headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] });
    answer.pipe(res);
  });
  req.pipe(out);
}).listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ msg: 'listening', port: (server.address() as AddressInfo).port })),
);
process.on('SIGTERM', () => process.exit(0));
