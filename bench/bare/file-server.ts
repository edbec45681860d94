import { createReadStream, createWriteStream } from 'node:fs';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { announce } from '../../test/support/ports.js';

const file = process.env.BENCH_FILE ?? '';

/** The baseline of uploads and downloads: pipes a body to a file, and the file to a client. */
const server = createServer((req, res) => {
  const done =
    req.method === 'POST'
      ? pipeline(req, createWriteStream(file)).then(() => void res.end('{}'))
      : pipeline(createReadStream(file), res);
  done.catch(() => res.destroy());
});
await announce(server);
