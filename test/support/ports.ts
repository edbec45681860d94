import type { Server as HttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';

export interface Listening {
  url: string;
  port: number;
  close(): Promise<void>;
}

/** Makes a server listen on this machine. `close` also ends the connections of an HTTP server. */
export async function listen(server: Server, port = 0): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}`,
    port: own,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) (server as HttpServer).closeAllConnections();
      }),
  };
}

/** Makes a server of a process listen, and prints the port for `startScript`. */
export async function announce(server: Server): Promise<Listening> {
  const listening = await listen(server);
  console.log(JSON.stringify({ msg: 'listening', port: listening.port }));
  return listening;
}

/** A port on which nothing listens just now, as an environment names it. */
export async function freePort(): Promise<string> {
  const { port, close } = await listen(createServer());
  await close();
  return String(port);
}
