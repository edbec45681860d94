import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { OutboundError } from './outbound-error.js';

/** Public by their range, yet answered by the host that a cloud machine runs on. */
const cloudServices: ReadonlySet<string> = new Set(['168.63.129.16']);
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an address is a host on the public internet: no loopback, private, link-local, translated or reserved one. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  // What is unassigned or IPv4-compatible (::127.0.0.1) counts as unicast too, so IPv6 must lie in the assigned block.
  return address.kind() === 'ipv4' ? !cloudServices.has(address.toString()) : address.match(globalUnicast);
}

/**
 * The checks that need no name resolution; a literal address never reaches `guardedLookup`.
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
 * A lookup for sockets that answers only with public addresses. The socket connects to the very address that was
 * checked here, so a name cannot point elsewhere afterwards; one private answer among others refuses the name.
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

function refusal(why: string): OutboundError {
  return new OutboundError('target_refused', why);
}
