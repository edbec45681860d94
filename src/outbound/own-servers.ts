import { lookup, resolveSrv } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { OutboundError } from './outbound-error.js';

/** A server that the product uses itself. */
export interface OwnServer {
  /** A name or an address. */
  host: string;
  /** The ports that matter if the host is this machine. On any other host, every port is protected. */
  ports: readonly number[];
  /** Whether `host` names the SRV records of a MongoDB cluster. */
  isCluster?: boolean;
}

/** How long the addresses of a name are used before it is resolved again. */
const resolvedForMs = 30_000;

export type OwnServers = ReturnType<typeof createOwnServers>;

/**
 * Protects the product's own servers, which trust whoever reaches them, from requests that users cause, even if private
 * targets are allowed (OWASP, Server-Side Request Forgery Prevention).
 */
export function createOwnServers(servers: readonly OwnServer[], resolve: typeof addressesOf = addressesOf) {
  const resolved = new Map<OwnServer, { addresses: readonly string[]; until: number }>();

  async function currentAddresses(server: OwnServer): Promise<readonly string[]> {
    const known = resolved.get(server);
    if (known && known.until > Date.now()) return known.addresses;
    // While a name cannot be resolved, its last addresses count.
    const addresses = await resolve(server).catch(() => known?.addresses ?? []);
    resolved.set(server, { addresses, until: Date.now() + resolvedForMs });
    return addresses;
  }

  async function isOwn(address: string, port: number): Promise<boolean> {
    const target = normal(address);
    for (const server of servers) {
      const addresses = await currentAddresses(server);
      if (
        isThisMachine(target)
          ? server.ports.includes(port) && addresses.some(isThisMachine)
          : addresses.includes(target)
      )
        return true;
    }
    return false;
  }

  return {
    /**
     * Checks the address and port of a connection.
     * @throws OutboundError `target_refused` for a server of the product
     */
    async refuse(address: string, port: number): Promise<void> {
      if (await isOwn(address, port))
        throw new OutboundError('target_refused', 'the target is a server of this product', { isUnsent: true });
    },
  };
}

async function addressesOf({ host, isCluster }: OwnServer): Promise<string[]> {
  const names = isCluster ? (await resolveSrv(`_mongodb._tcp.${host}`)).map(({ name }) => name) : [host];
  const found = await Promise.all(names.map((name) => lookup(name, { all: true })));
  return found.flat().map(({ address }) => normal(address));
}

/** Returns one spelling of an address; an IPv4 address in IPv6 becomes IPv4. */
function normal(address: string): string {
  const plain = address.split('%', 1)[0] ?? '';
  return ipaddr.isValid(plain) ? ipaddr.process(plain).toString() : plain;
}

function isThisMachine(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const range = ipaddr.parse(address).range();
  if (range === 'loopback' || range === 'unspecified') return true;
  return Object.values(networkInterfaces()).some((own) => own?.some((each) => normal(each.address) === address));
}
