import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isOutboundError, OutboundError } from './outbound-error.js';

/** Public addresses that the host of a cloud machine serves itself. */
const cloudServices: ReadonlySet<string> = new Set(['168.63.129.16']);
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Returns whether an address is a host on the public internet, not a loopback, private, link-local, translated or
 * reserved address.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  // Unassigned and IPv4-compatible addresses (::127.0.0.1) count as unicast too, so IPv6 must be in the assigned block.
  return address.kind() === 'ipv4' ? !cloudServices.has(address.toString()) : address.match(globalUnicast);
}

/**
 * Checks the scheme and the credentials of a URL.
 * @throws OutboundError `target_refused`
 */
export function refuseUnlessFetchable(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refusal('only http and https are called');
  if (url.username !== '' || url.password !== '') throw refusal('an address must not carry credentials');
}

export function refuseUnlessPublic(url: URL): void {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(host) && !isPublicAddress(host)) throw refusal('the target is not a public address');
}

/**
 * Creates a lookup that returns only public addresses. The socket connects to the checked address, so a name cannot
 * change its target afterwards. One private address refuses the whole name.
 */
export function guardedLookup(lookup: LookupFunction = dnsLookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, address, family) => {
      const found: LookupAddress[] = Array.isArray(address) ? address : [{ address, family: family ?? 0 }];
      if (!error && !found.every((entry) => isPublicAddress(entry.address))) {
        callback(refusal('the target does not resolve to public addresses only'), address, family);
      } else callback(error, address, family);
    });
  };
}

/**
 * Resolves a host name for clients that connect by themselves. They must connect only to this address.
 * @throws OutboundError `target_refused` unless every address of the name is public, `unreachable` if there is none
 */
export async function publicAddressOf(host: string, lookup?: LookupFunction): Promise<string> {
  const literal = host.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(literal) && !isPublicAddress(literal)) throw refusal('the target is not a public address');
  return addressOf(host, guardedLookup(lookup));
}

/**
 * Resolves a host name, whatever its addresses.
 * @throws OutboundError `unreachable` if there is none
 */
export async function addressOf(host: string, lookup: LookupFunction = dnsLookup): Promise<string> {
  const literal = host.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(literal)) return literal;
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, address) => {
      const first = Array.isArray(address) ? address[0]?.address : address;
      if (isOutboundError(error)) reject(error);
      else if (error || first === undefined)
        reject(new OutboundError('unreachable', 'the name of the target cannot be resolved', { isUnsent: true }));
      else resolve(first);
    });
  });
}

function refusal(why: string): OutboundError {
  return new OutboundError('target_refused', why, { isUnsent: true });
}
