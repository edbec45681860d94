import { createReadStream, createWriteStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

const file = process.env.BENCH_FILE ?? '';

/** The baseline of uploads and downloads: pipes a body to a file, and the file to a client. */
const server = createServer((req, res) => {
  const done =
    req.method === 'POST'
      ? pipeline(req, createWriteStream(file)).then(() => void res.end('{}'))
      : pipeline(createReadStream(file), res);
  done.catch(() => res.destroy());
});
server.listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ msg: 'listening', port: (server.address() as AddressInfo).port })),
);
process.on('SIGTERM', () => process.exit(0));
