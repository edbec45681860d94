import { isJsonType } from '../http/json-body.js';
import type { Acknowledgement } from './receiver.js';

export const acknowledgementLimit = 16 * 1024;

const textLimit = 300;
/** From this length on a text that stands in what the sender sent is taken for an echo of it. */
const echoLength = 6;

/**
 * What the sender is told: downstream's status and the plain members of its JSON acknowledgement. Nothing nested and no
 * text of the request is passed on, so that no receiver returns a caller's data (specification, Inbound callback receivers).
 */
export function acknowledgementOf(status: number, contentType: string, answer: Buffer, sent: Buffer): Acknowledgement {
  if (status === 204 || status === 205) return { status, body: null };
  const members = isJsonType(contentType) ? plainMembers(answer, sent) : {};
  return { status, body: Object.keys(members).length > 0 ? members : ownWords(status) };
}

function plainMembers(answer: Buffer, sent: Buffer): Record<string, unknown> {
  const value = parse(answer);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).filter(([name, member]) => !isEcho(name, sent) && isPlain(member, sent)));
}

function isPlain(member: unknown, sent: Buffer): boolean {
  if (typeof member === 'string') return member.length <= textLimit && !isEcho(member, sent);
  if (typeof member === 'number') return !isEcho(String(member), sent);
  return typeof member === 'boolean' || member === null;
}

function isEcho(text: string, sent: Buffer): boolean {
  return text.length >= echoLength && !wellKnown.has(text) && sent.includes(text);
}

/** Words of acknowledgements that a callback may hold as well. */
const wellKnown: ReadonlySet<string> = new Set(['status', 'accepted', 'ignored', 'duplicate', 'error_description', 'not_found', 'message', 'success', 'received']);

function ownWords(status: number): Record<string, string> {
  if (status < 400) return { status: 'accepted' };
  const error = status === 404 ? 'not_found' : status < 500 ? 'invalid_request' : 'upstream_unreachable';
  return { error, error_description: `the downstream service answered with status ${status}` };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
