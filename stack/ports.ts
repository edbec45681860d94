import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { StackError } from './stack-error.js';

/** Below the range for outgoing connections, so that a port stays free during a restart. */
const range = { from: 20_000, to: 32_000 };

/**
 * Chooses a port for each name: the fixed one, the preferred one if it is free, or any free one. A fixed 0 means any
 * free one.
 */
export async function choosePorts<Name extends string>(
  names: readonly Name[],
  { fixed = {}, preferred = {} }: { fixed?: Partial<Record<Name, number>>; preferred?: Partial<Record<Name, number>> },
): Promise<Record<Name, number>> {
  const taken = new Set<number>();
  const ports = {} as Record<Name, number>;
  for (const name of names) {
    const port = await choose(name, fixed[name], preferred[name], taken);
    taken.add(port);
    ports[name] = port;
  }
  return ports;
}

async function choose(
  name: string,
  fixed: number | undefined,
  preferred: number | undefined,
  taken: Set<number>,
): Promise<number> {
  if (fixed) {
    if (await isFree(fixed)) return fixed;
    throw new StackError(`Port ${fixed}, which was asked for ${name}, is in use.`);
  }
  for (let port = fixed === 0 ? anyPort() : (preferred ?? anyPort()); ; port = anyPort()) {
    if (!taken.has(port) && (await isFree(port))) return port;
  }
}

function anyPort(): number {
  return randomInt(range.from, range.to);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => resolve(true)));
  });
}
