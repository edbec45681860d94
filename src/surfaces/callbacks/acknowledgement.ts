import { isJsonType } from '../../http/json-body.js';
import type { Acknowledgement } from './receiver.js';
import { windowsOf } from './windows.js';
import { parseJsonOrUndefined } from '../../base/json.js';

export const acknowledgementLimit = 16 * 1024;

const textLimit = 300;
/** Limits the number of searches in a body of up to 25 MiB. */
const maxMembers = 20;
/** A text of at least this length that occurs in the request counts as an echo of it. */
const echoLength = 6;

/**
 * Builds the response to the sender from downstream's status and the plain members of its JSON response. It omits
 * nested values and texts from the request, so that no receiver returns a caller's data (specification, Inbound
 * callback receivers).
 */
export async function acknowledgementOf(
  status: number,
  contentType: string,
  answer: Buffer,
  sent: Buffer,
): Promise<Acknowledgement> {
  if (status === 204 || status === 205) return { status, body: null };
  const members = isJsonType(contentType) ? await plainMembers(answer, sent) : {};
  return { status, body: Object.keys(members).length > 0 ? members : ownWords(status) };
}

async function plainMembers(answer: Buffer, sent: Buffer): Promise<Record<string, unknown>> {
  const value = parseJsonOrUndefined(answer.toString('utf8'));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value).slice(0, maxMembers))
    if (isPlain(member) && !(await isEcho(name, sent)) && !(await isEcho(String(member), sent)))
      members.push([name, member]);
  return Object.fromEntries(members);
}

function isPlain(member: unknown): boolean {
  if (typeof member === 'string') return member.length <= textLimit;
  return typeof member === 'number' || typeof member === 'boolean' || member === null;
}

async function isEcho(text: string, sent: Buffer): Promise<boolean> {
  if (text.length < echoLength || wellKnown.has(text)) return false;
  for await (const window of windowsOf(sent, Buffer.byteLength(text))) if (window.includes(text)) return true;
  return false;
}

/** Common words of acknowledgements, which may also occur in a callback. */
const wellKnown: ReadonlySet<string> = new Set([
  'status',
  'accepted',
  'ignored',
  'duplicate',
  'error_description',
  'not_found',
  'message',
  'success',
  'received',
]);

function ownWords(status: number): Record<string, string> {
  if (status < 400) return { status: 'accepted' };
  const error = status === 404 ? 'not_found' : status < 500 ? 'invalid_request' : 'upstream_unreachable';
  return { error, error_description: `the downstream service answered with status ${status}` };
}
