import type { CallbackPayload } from '../../../workflows/connector-events/messages.js';

const maxDepth = 32;

/** What a provider's body says, whatever its type claims; no body is refused for its form. */
export function readPayload(contentType: string | undefined, body: Buffer): CallbackPayload {
  const text = utf8(body);
  if (text === undefined) return { encoding: 'base64', value: body.toString('base64') };
  const json = parse(text);
  if (json !== undefined && isStorable(json, 0)) return { encoding: 'json', value: json };
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType ?? '')) {
    const form = formOf(text);
    if (isStorable(form, 0)) return { encoding: 'form', value: form };
  }
  return { encoding: 'text', value: text };
}

/** The first of the names that the payload's top level gives a text or a number for. */
export function fieldOf({ encoding, value }: CallbackPayload, names: readonly string[]): string | null {
  if ((encoding !== 'json' && encoding !== 'form') || typeof value !== 'object' || value === null) return null;
  for (const name of names) {
    const found = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    if ((typeof found === 'string' && found !== '' && found.length <= 200) || typeof found === 'number') return String(found);
  }
  return null;
}

/** What no record can hold stays the text that it was: bottomless nesting, names with NUL or of prototypes. */
function isStorable(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= maxDepth) return false;
  return Object.entries(value).every(([name, member]) => !name.includes('\0') && name !== '__proto__' && isStorable(member, depth + 1));
}

/** A name that comes several times has a list. */
function formOf(text: string): Record<string, string | string[]> {
  const form = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const before = form.get(name);
    form.set(name, before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]);
  }
  return Object.fromEntries(form);
}

function utf8(body: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
