import { Agent, createServer, request } from 'node:http';
import { announce } from '../../test/support/ports.js';

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
});
await announce(server);
