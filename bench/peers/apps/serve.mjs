import { createServer } from 'node:http';

/** The work of one step in every engine: a short text. */
export const step = (number, goal) => `Step ${number} for ${goal}`;

/** Answers `POST /?steps=N` after `run(N)`, with what it returns. */
export function serve(run) {
  const server = createServer(async (request, response) => {
    try {
      const steps = Number(new URL(request.url, 'http://localhost').searchParams.get('steps'));
      const output = await run(steps);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ output }));
    } catch (error) {
      console.error(error);
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(Number(process.env.PORT), '127.0.0.1');
}
