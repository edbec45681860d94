import { createServer, type AddressInfo } from 'node:net';

export interface Listener {
  port: number;
  close(): Promise<void>;
}

/** Somebody else's server on a port. */
export async function listenOn(port = 0): Promise<Listener> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const close = () => new Promise<void>((resolve) => void server.close(() => resolve()));
  return { port: (server.address() as AddressInfo).port, close };
}

/** A port on which nothing listens just now, as an environment names it. */
export async function freePort(): Promise<string> {
  const { port, close } = await listenOn();
  await close();
  return String(port);
}
